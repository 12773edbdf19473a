// What the projector shows at this moment: the vectors' description, their columns, the projection that
// runs or has run, what is chosen. One instance for the page; components read it and call its functions.
import {untrack} from 'svelte';
import {
  cancelJob,
  changeJob,
  embeddingList,
  embeddingOf,
  jobPositions,
  jobStatus,
  labelColumn,
  neighboursOf,
  spriteSource,
  startJob,
  type Embedding,
  type EmbeddingEntry,
  type JobQuestion,
  type JobStatus,
  type LabelColumn,
  type Neighbours,
  type Positions,
} from '../../data/embeddings.ts';
import type {Sprite} from '../../draw/cloud-paint.ts';
import {findRows, testerOf} from './search.ts';
import {view} from './view.svelte.ts';

export const INDEX = '__index__'; // the column of embeddings without metadata
export const NO_COLOUR = '-';
const AUTO_START = 20_000; // points up to which t-SNE and UMAP start by themselves
const LONGEST_LIST = 2000;
const LARGEST_SPRITE = 8192; // pixels of a side

const words = (problem: unknown): string => (problem instanceof Error ? problem.message : String(problem));

class Model {
  list = $state.raw<readonly EmbeddingEntry[]>([]);
  problems = $state.raw<readonly {run: string; text: string}[]>([]);
  ready = $state(false);
  failed = $state('');
  embedding = $state.raw<Embedding | null>(null);
  columns = $state.raw<ReadonlyMap<string, LabelColumn>>(new Map());
  sprite = $state.raw<Sprite | null>(null);
  spriteProblem = $state('');
  job = $state.raw<JobStatus | null>(null);
  positions = $state.raw<Positions | null>(null);
  jobFailed = $state('');
  waiting = $state(false); // a large set: the user starts the projection
  near = $state.raw<Neighbours | null>(null);
  edited = $state(0); // labels given by hand
  private many = $state.raw<{picked: readonly number[]; only: readonly number[]}>({picked: [], only: []}); // lists too long for a link

  readonly rows = $derived(this.embedding?.shape[0] ?? 0);
  readonly dims = $derived(this.embedding?.shape[1] ?? 0);
  readonly sphere = $derived(view.sphere === 'auto' ? this.dims >= 50 : view.sphere === 'on');
  readonly picked: readonly number[] = $derived(view.picked.length > 0 ? view.picked : this.many.picked);
  readonly only: readonly number[] = $derived(view.only.length > 0 ? view.only : this.many.only);
  readonly shown: Uint32Array = $derived(
    this.only.length > 0
      ? Uint32Array.from(this.only.filter(row => row < this.rows))
      : Uint32Array.from({length: this.rows}, (_, i) => i),
  );
  readonly perplexity = $derived(
    view.perplexity > 0 ? view.perplexity : Math.max(5, Math.ceil(Math.sqrt(this.shown.length) / 4)),
  );
  readonly running = $derived(this.job !== null && ['queued', 'running', 'paused'].includes(this.job.state));
  readonly labelName = $derived(this.columnName(view.label, c => c.type === 'text'));
  /** The column that colours the points; '' = none. Unless the user says otherwise, the first with few values. */
  readonly colourName = $derived(
    view.colour === NO_COLOUR
      ? ''
      : this.columns.has(view.colour)
        ? view.colour
        : ((this.embedding?.columns ?? []).find(c => c.distinct > 1 && c.distinct <= 24)?.name ?? ''),
  );
  readonly tester = $derived(view.search === '' ? undefined : testerOf(view.search, view.regex));
  readonly found: readonly number[] = $derived.by(() => {
    if (this.tester === undefined || this.tester === null || this.rows === 0) return [];
    const columns =
      view.searchIn === ''
        ? [...this.columns.values()]
        : [this.columns.get(view.searchIn)].filter(c => c !== undefined);
    return findRows(columns, this.rows, this.tester);
  });
  /** Rows that stand out: what was found, picked, or the point with its neighbours. */
  readonly chosen: ReadonlySet<number> = $derived(
    new Set(
      view.search !== '' && this.found.length > 0
        ? this.found
        : this.picked.length > 0
          ? this.picked
          : view.point >= 0
            ? [view.point, ...(this.near?.ids ?? [])]
            : [],
    ),
  );

  private columnName(wanted: string, prefer: (c: {type: string}) => boolean): string {
    const all = this.embedding?.columns ?? [];
    if (all.some(c => c.name === wanted)) return wanted;
    return (all.find(prefer) ?? all[0])?.name ?? INDEX;
  }
  text(row: number, name = this.labelName): string {
    const column = this.columns.get(name);
    return column === undefined ? String(row) : (column.words[column.codes[row] ?? 0] ?? '');
  }
  async refresh(): Promise<void> {
    try {
      const answer = await embeddingList();
      [this.list, this.problems, this.ready, this.failed] = [answer.embeddings, answer.problems, true, ''];
      if (!this.list.some(one => one.id === view.embedding)) {
        const first = this.list.find(one => one.problem === undefined) ?? this.list[0]; // or what is wrong with it
        if (first !== undefined) view.embedding = first.id;
      }
    } catch (problem) {
      this.failed = words(problem);
    }
  }
  choose(id: string): void {
    this.pick([]);
    this.isolate([]);
    [view.embedding, view.point, view.search, view.colour, view.label] = [id, -1, '', '', ''];
  }
  /** Chooses rows; a link carries up to two thousand of them. */
  pick(rows: readonly number[]): void {
    const long = rows.length > LONGEST_LIST;
    view.picked = long ? [] : [...rows];
    this.many = {...this.many, picked: long ? rows : []};
  }
  /** Shows these rows alone; none = all. */
  isolate(rows: readonly number[]): void {
    const long = rows.length > LONGEST_LIST;
    view.only = long ? [] : [...rows];
    this.many = {...this.many, only: long ? rows : []};
    view.camera = [];
  }

  /** Loads the description, all columns and the sprite; the returned function stops it. */
  open(id: string): () => void {
    const stop = new AbortController();
    [this.embedding, this.columns, this.sprite, this.spriteProblem, this.positions, this.job, this.near] = [
      null,
      new Map(),
      null,
      '',
      null,
      null,
      null,
    ];
    const load = async (): Promise<void> => {
      const found = await embeddingOf(id, {signal: stop.signal});
      const columns = await Promise.all(
        found.columns.slice(0, 60).map(c => labelColumn(id, c.name, {signal: stop.signal})),
      );
      if (stop.signal.aborted) return;
      [this.embedding, this.columns, this.failed] = [found, new Map(columns.map(c => [c.name, c])), ''];
      if (found.sprite !== undefined) await this.loadSprite(id, found.sprite);
    };
    load().catch((problem: unknown) => {
      if (!stop.signal.aborted) this.failed = words(problem);
    });
    return () => stop.abort();
  }
  private async loadSprite(id: string, size: {width: number; height: number}): Promise<void> {
    const image = new Image();
    image.crossOrigin = 'anonymous';
    image.src = await spriteSource(id);
    try {
      await image.decode();
    } catch {
      this.spriteProblem = 'unreadable';
      return;
    }
    if (image.width > LARGEST_SPRITE || image.height > LARGEST_SPRITE) this.spriteProblem = 'large';
    else if (view.embedding === id) this.sprite = {image, width: size.width, height: size.height};
  }

  readonly question: JobQuestion | null = $derived.by(() => {
    if (this.embedding === null) return null;
    const common = {scaling: this.sphere ? 'sphere' : 'none', seed: view.seed};
    const subset = this.only.length > 0 ? {subset: [...this.shown]} : {};
    const base = {embedding: this.embedding.id, ...subset};
    if (view.method === 'tsne') {
      const supervised =
        view.supervise > 0 && this.columns.has(view.superviseBy)
          ? {
              supervise: view.supervise,
              column: view.superviseBy,
              ...(view.ignored === '' ? {} : {ignored: view.ignored}),
            }
          : {};
      return {
        ...base,
        kind: 'tsne',
        params: {
          ...common,
          dims: view.dims,
          perplexity: this.perplexity,
          learning_rate: untrack(() => view.rate),
          iterations: view.iterations,
          ...supervised,
        },
      };
    }
    if (view.method === 'umap')
      return {
        ...base,
        kind: 'umap',
        params: {...common, dims: view.dims, neighbours: view.neighbours, min_dist: view.minDist},
      };
    if (view.method === 'custom') {
      const {column, regex, ...ends} = view.custom;
      const axes = Object.fromEntries(
        Object.entries(ends)
          .filter(([, text]) => text !== '')
          .map(([end, text]) => [end, {text, regex}]),
      );
      return {
        ...base,
        kind: 'custom',
        params: {...common, column: this.columns.has(column) ? column : this.labelName, ...axes},
      };
    }
    return {...base, kind: 'pca', params: common};
  });

  /** Starts the projection that the question names and follows it; the returned function stops following. */
  follow(question: JobQuestion, force = false): () => void {
    const stop = new AbortController();
    this.jobFailed = '';
    const slow = question.kind === 'tsne' || question.kind === 'umap';
    this.waiting = !force && slow && this.shown.length > AUTO_START;
    if (!this.waiting) {
      this.run(question, stop.signal).catch((problem: unknown) => {
        if (!stop.signal.aborted) this.jobFailed = words(problem);
      });
    }
    return () => stop.abort();
  }
  private async run(question: JobQuestion, signal: AbortSignal): Promise<void> {
    await new Promise(done => setTimeout(done, question.kind === 'pca' ? 0 : 250)); // a slider may still move
    if (signal.aborted) return;
    const before = this.job;
    if (before !== null && this.running) void cancelJob(before.job).catch(() => undefined);
    let status = await startJob(question);
    let version = 0;
    while (!signal.aborted) {
      this.job = status;
      if (status.version > version) {
        const found = await jobPositions(status.job, {signal});
        if (signal.aborted) return;
        version = found.version;
        this.positions = found;
      }
      if (['done', 'failed', 'cancelled'].includes(status.state) && status.version <= version) break;
      await new Promise(done => setTimeout(done, status.state === 'queued' || status.state === 'paused' ? 300 : 80));
      if (!signal.aborted) status = await jobStatus(status.job, {signal});
    }
    if (status.state === 'failed') this.jobFailed = status.error ?? '';
  }
  async change(change: Parameters<typeof changeJob>[1]): Promise<void> {
    if (this.job !== null) this.job = {...this.job, ...(await changeJob(this.job.job, change))};
  }
  async stop(): Promise<void> {
    if (this.job !== null) this.job = {...this.job, state: (await cancelJob(this.job.job)).state};
  }

  findNeighbours(point: number, k: number): () => void {
    const stop = new AbortController();
    const id = this.embedding?.id;
    if (id === undefined || point < 0 || point >= this.rows) {
      this.near = null;
      return () => undefined;
    }
    const subset = this.only.length > 0 ? {subset: [...this.shown]} : {};
    neighboursOf(id, {i: point, k, metric: view.metric, ...subset}, {signal: stop.signal})
      .then(answer => (this.near = answer))
      .catch(() => {
        if (!stop.signal.aborted) this.near = null;
      });
    return () => stop.abort();
  }

  /** Writes a label for rows into a column of this page's copy of the metadata. */
  setLabel(name: string, rows: Iterable<number>, text: string): number {
    const column = this.columns.get(name);
    if (column === undefined) return 0;
    const known = column.words.indexOf(text);
    const list = known >= 0 ? column.words : [...column.words, text];
    const code = known >= 0 ? known : list.length - 1;
    const codes = column.codes.slice();
    const values = column.values?.slice() ?? null;
    let n = 0;
    for (const row of rows) {
      codes[row] = code;
      if (values !== null) values[row] = Number(text);
      n++;
    }
    const stillNumber = column.type === 'number' && text.trim() !== '' && Number.isFinite(Number(text));
    this.columns = new Map([
      ...this.columns,
      [
        name,
        {...column, words: list, codes, values: stillNumber ? values : null, type: stillNumber ? 'number' : 'text'},
      ],
    ]);
    this.edited++;
    return n;
  }
  /** The metadata as it is now, as a file. */
  tsv(): string {
    const all = [...this.columns.values()];
    const lines = all.length > 1 ? [all.map(c => c.name).join('\t')] : [];
    for (let i = 0; i < this.rows; i++) lines.push(all.map(c => c.words[c.codes[i]!] ?? '').join('\t'));
    return lines.join('\n') + '\n';
  }
}

export const model = new Model();
