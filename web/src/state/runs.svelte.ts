// The runs: which exist, which are shown, how they are sorted, grouped and coloured. One table, one
// colour a run, for all dashboards. Choices are kept by name in the link; names, colours and notes in
// the sidecar.
import {untrack} from 'svelte';
import {client} from '../data/client.ts';
import type {Cell, Run, RunsAnswer, TableAnswer} from '../data/types.ts';
import {slotStyle, type LineStyle} from '../draw/palette.ts';
import {compareNatural} from '../text/natural.ts';
import {nameParts, siblingCuts} from '../text/sibling-names.ts';
import {compile, groupRuns, styleRuns, type Group} from './groups.ts';
import {preferences} from './preferences.svelte.ts';
import {hparams} from './hparams.svelte.ts';
import {afterFirstPaint} from './first-paint.svelte.ts';
import {patchRun, sidecar} from './sidecar.svelte.ts';
import {FIELDS, parseQuery, type RunQuery} from './run-query.ts';
import {theme} from './theme.svelte.ts';
import {tags} from './tags.svelte.ts';
import {slice} from './view.svelte.ts';

/** A filter of one column: chosen values, or an interval, or both ends open; missing = keep rows without a value. */
export interface ColumnFilter {
  col: string;
  in?: string[];
  min?: number;
  max?: number;
  missing?: boolean;
}

export interface RunsView {
  filter: string; // a query over values, or a regular expression on the name, case-insensitive
  base: 'auto' | 'all' | 'none'; // auto: all up to 1000, above that the newest 1000
  flip: string[]; // names for which the opposite of `base` holds
  sort: [string, 'asc' | 'desc'];
  group: string; // see groups.ts
  colour: string; // '' = group when grouped, else run
  columns: string[] | null; // table columns beside the name: "hparam:lr", "metric:loss:last"; null = chosen by rule
  filters: ColumnFilter[];
  folded: string[]; // keys of folded groups
  archived: boolean; // also list archived runs
  baseline: string; // name of the run that cells are compared with; '' = none
}

export const AUTO_LIMIT = 1000;

export const runsView: RunsView = slice<RunsView>('runs', {
  filter: '',
  base: 'auto',
  flip: [],
  sort: ['name', 'asc'],
  group: 'none',
  colour: '',
  columns: null,
  filters: [],
  folded: [],
  archived: false,
  baseline: '',
});

let list = $state.raw<readonly Run[]>([]);
let rev = 0;
let boot = '';
let ready = $state(false);
let hot = $state<number | null>(null);
let cells = $state.raw<ReadonlyMap<string, ReadonlyMap<number, Cell>>>(new Map());

const byId = $derived(new Map(list.map(run => [run.id, run])));
const byName = $derived(new Map(list.map(run => [run.name, run])));
/** What the filter says: a query over values, or a regular expression on names. */
interface Filter {
  readonly query: RunQuery | null;
  readonly pattern: RegExp | null;
}
const filtered = $derived.by((): {filter: Filter | null; error: string} => {
  const text = runsView.filter;
  if (text === '') return {filter: {query: null, pattern: null}, error: ''};
  try {
    const query = parseQuery(text, resolve);
    if (query !== null) return {filter: {query, pattern: null}, error: ''};
  } catch (problem) {
    // A name such as lr=0.1 is no question about a column that no run has.
    const pattern = /\s/.test(text.trim()) ? null : compile(text, 'i');
    if (pattern !== null) return {filter: {query: null, pattern}, error: ''};
    return {filter: null, error: problem instanceof Error ? problem.message : String(problem)};
  }
  const pattern = compile(text, 'i');
  return pattern === null ? {filter: null, error: 'regex'} : {filter: {query: null, pattern}, error: ''};
});
let lastFilter: Filter = {query: null, pattern: null}; // stays while what is typed is half an expression
const filter = $derived.by(() => {
  if (filtered.filter !== null) lastFilter = filtered.filter;
  return lastFilter;
});

/** The column that a name in a query means: a hyperparameter, a metric (its whole tag, or the end of just one), a field. */
function resolve(name: string, what: string | null): string | null {
  if (what === null && hparams.all.some(one => one.name === name)) return `hparam:${name}`;
  const plain = (text: string): string => text.toLowerCase().replace(/[^a-z0-9]+/g, '_');
  const scalars = tags.ofKind('scalar');
  const tag =
    scalars.find(one => one.name === name) ??
    scalars.find(one => plain(one.name) === plain(name)) ??
    scalars.find(one => plain(one.name).endsWith(`_${plain(name)}`));
  if (tag !== undefined) return `metric:${tag.name}:${what ?? 'last'}`;
  return what === null && (FIELDS as readonly string[]).includes(name) ? name : null;
}
/** What may be written into the filter. */
export function queryNames(): string[] {
  return [...hparams.all.map(one => one.name), ...tags.ofKind('scalar').map(tag => tag.name)];
}
function fieldOf(run: Run, column: string): Cell | readonly string[] {
  if (column.includes(':')) return cellOf(column, run.id);
  const notes = sidecar.notes(run.name);
  if (column === 'tag') return notes.tags ?? [];
  if (column === 'note') return notes.note ?? '';
  if (column === 'state') return run.state;
  return sortCell(column, run);
}
const newest = $derived(
  list.length <= AUTO_LIMIT
    ? null
    : new Set(
        [...list]
          .sort((a, b) => (b.start ?? 0) - (a.start ?? 0))
          .slice(0, AUTO_LIMIT)
          .map(run => run.id),
      ),
);
const flipped = $derived(new Set(runsView.flip));

/** Rows of the table: filtered by name and columns, not archived. */
const listed = $derived.by(() => {
  const filters = runsView.filters;
  return list.filter(run => {
    const {pattern, query} = filter;
    if (pattern !== null && !pattern.test(run.name) && !pattern.test(nameOf(run))) return false;
    if (query !== null && !query.test(column => fieldOf(run, column))) return false;
    if (!runsView.archived && sidecar.notes(run.name).hidden === true) return false;
    return filters.every(one => passes(one, cellOf(one.col, run.id)));
  });
});
const sorted = $derived.by(() => {
  const [column, direction] = runsView.sort;
  const sign = direction === 'asc' ? 1 : -1;
  return [...listed].sort((a, b) => {
    const [va, vb] = [sortCell(column, a), sortCell(column, b)];
    const [ma, mb] = [isMissing(va), isMissing(vb)];
    if (ma || mb) return ma && mb ? compareNatural(a.name, b.name) : ma ? 1 : -1;
    const order = typeof va === 'number' && typeof vb === 'number' ? va - vb : compareNatural(String(va), String(vb));
    return order * sign || compareNatural(a.name, b.name);
  });
});
const grouping = $derived(
  runsView.group === 'none'
    ? {groups: [] as Group[], rest: sorted as readonly Run[]}
    : groupRuns(sorted, runsView.group, cellOf),
);
const shown = $derived(sorted.filter(run => isChosen(run)));
const shownIds = $derived(new Set(shown.map(run => run.id)));
const colourSpec = $derived(runsView.colour === '' ? (runsView.group === 'none' ? 'run' : 'group') : runsView.colour);
const styles = $derived(
  styleRuns(
    list,
    colourSpec,
    grouping.groups,
    cellOf,
    run => sidecar.notes(run.name).colour,
    theme.dark,
    theme.colours.textOff,
    preferences.dashes || theme.colours.forced,
    key => sidecar.groupColour(runsView.group, key),
  ),
);

const cuts = $derived(siblingCuts(list.map(nameOf)));
const commonFolder = $derived(sharedFolder(list.map(run => run.name)));

/** The folders, with their slash, that all of at least two names begin with. */
export function sharedFolder(names: readonly string[]): string {
  if (names.length < 2) return '';
  let shared = names[0]!.slice(0, names[0]!.lastIndexOf('/') + 1);
  for (const name of names)
    while (shared !== '' && !name.startsWith(shared))
      shared = shared.slice(0, shared.lastIndexOf('/', shared.length - 2) + 1);
  return shared;
}

function isChosen(run: Run): boolean {
  const rule = runsView.base === 'all' || (runsView.base === 'auto' && (newest === null || newest.has(run.id)));
  return rule !== flipped.has(run.name) && sidecar.notes(run.name).hidden !== true;
}
function isMissing(value: Cell): boolean {
  return value === null || (typeof value === 'number' && Number.isNaN(value));
}
function nameOf(run: Run): string {
  return sidecar.notes(run.name).alias ?? run.name;
}
function cellOf(column: string, run: number): Cell {
  return cells.get(column)?.get(run) ?? null;
}
function sortCell(column: string, run: Run): Cell {
  if (column === 'name') return nameOf(run);
  if (column === 'start') return run.start;
  if (column === 'duration') return run.start === null || run.last === null ? null : run.last - run.start;
  if (column === 'points') return run.points;
  return cellOf(column, run.id);
}
function passes(filter: ColumnFilter, value: Cell): boolean {
  if (isMissing(value)) return filter.missing === true;
  if (filter.in !== undefined && !filter.in.includes(String(value))) return false;
  if (typeof value === 'number') return value >= (filter.min ?? -Infinity) && value <= (filter.max ?? Infinity);
  return true;
}

export const runs = {
  get all(): readonly Run[] {
    return list;
  },
  /** Rows of the table, sorted, ungrouped. */
  get listed(): readonly Run[] {
    return sorted;
  },
  /** What charts draw, in table order. */
  get shown(): readonly Run[] {
    return shown;
  },
  get groups(): readonly Group[] {
    return grouping.groups;
  },
  /** Listed runs without a group. */
  get ungrouped(): readonly Run[] {
    return grouping.rest;
  },
  get ready(): boolean {
    return ready;
  },
  /** Why the filter is not understood: '' when it is, 'regex' when it is no regular expression. */
  get filterError(): string {
    return filtered.error;
  },
  /** Whether the filter is a query over values. */
  get isQuery(): boolean {
    return filter.query !== null;
  },
  get colourSpec(): string {
    return colourSpec;
  },
  /** The run under the pointer, in the table or in any chart. */
  get hot(): number | null {
    return hot;
  },
  set hot(id: number | null) {
    hot = id;
  },
  get boot(): string {
    return boot;
  },
  /** Revision of the list. */
  get rev(): number {
    return rev;
  },
  byId: (id: number): Run | undefined => byId.get(id),
  byName: (name: string): Run | undefined => byName.get(name),
  /** The name to show: the user's alias or the directory. */
  nameOf,
  /** The name without the folders that all runs share: siblings do not look alike because they are cut. */
  shortName: (run: Run): string =>
    sidecar.notes(run.name).alias ?? (commonFolder === '' ? run.name : run.name.slice(commonFolder.length)),
  /** What is shown of a run's name, in three parts: when room is short the first gives way, then the second. */
  nameParts: (run: Run, shown: string): [string, string, string] => {
    const whole = nameOf(run);
    const cut = cuts.get(whole);
    return nameParts(shown, cut && {...cut, at: cut.at - (whole.length - shown.length)});
  },
  isShown: (id: number): boolean => shownIds.has(id),
  isChosen,
  lineStyle: (id: number): LineStyle => styles.get(id) ?? {colour: theme.colours.textOff, dash: []},
  /** The style of a group's line: the user's, or that of its place. */
  groupStyle: (group: Group): LineStyle => {
    const own = sidecar.groupColour(runsView.group, group.key);
    const style = slotStyle(group.index, theme.dark);
    return own === undefined ? style : {...style, colour: own};
  },
  /** A table cell ("hparam:lr", "metric:loss:last"); load it with wantColumns first. */
  cell: cellOf,
};

/** The columns in view: the user's, or up to two metrics that look like what people compare. */
export function tableColumns(): readonly string[] {
  return runsView.columns ?? autoColumns(usual);
}
/** Tags that at least a third of the runs have: a column for a few runs takes the room of all names. */
const usual = $derived(
  tags
    .ofKind('scalar')
    .filter(tag => 3 * tag.runs.reduce((sum, [first, last]) => sum + last - first + 1, 0) >= list.length)
    .map(tag => tag.name),
);

export function autoColumns(names: readonly string[]): string[] {
  const rate = (name: string): number => {
    const lower = name.toLowerCase();
    const what = /loss/.test(lower) ? 4 : /acc|f1|auc|bleu|reward|score/.test(lower) ? 3 : 0;
    if (what === 0) return 0;
    const held = /(^|[/_.-])(val|valid|validation|eval|test)/.test(lower) ? 3 : 0;
    const perEpoch = /(^|[/_.-])epoch_/.test(lower) ? 3.5 : 0; // Keras: one value an epoch, what people compare
    return what + Math.max(held, perEpoch) - name.length * 0.01;
  };
  const good = names
    .map(name => ({name, rate: rate(name)}))
    .filter(one => one.rate > 0)
    .sort((a, b) => b.rate - a.rate);
  const loss = good.find(one => /loss/i.test(one.name));
  const other = good.find(one => !/loss/i.test(one.name));
  return [loss, other].filter(one => one !== undefined).map(one => `metric:${one.name}:last`);
}

export function setShown(changed: readonly Run[], on: boolean): void {
  const next = new Set(runsView.flip);
  for (const run of changed) {
    if (sidecar.notes(run.name).hidden === true && on) patchRun(run.name, {hidden: null});
    if (isChosen(run) === on) continue;
    if (next.has(run.name)) next.delete(run.name);
    else next.add(run.name);
  }
  runsView.flip = [...next];
}

export function showOnly(chosen: readonly Run[]): void {
  runsView.base = 'none';
  runsView.flip = chosen.map(run => run.name);
}

export function showAll(): void {
  runsView.base = 'all';
  runsView.flip = [];
}

/** Loads what changed since the last time, or everything. */
export async function loadRuns(fresh: boolean): Promise<RunsAnswer> {
  const since = fresh ? 0 : rev;
  let answer = await client().get<RunsAnswer>('runs', since > 0 ? {since} : {});
  if (since > 0 && answer.boot !== boot) answer = await client().get<RunsAnswer>('runs');
  const complete = since === 0 || answer.boot !== boot;
  boot = answer.boot;
  rev = answer.rev;
  if (complete) {
    list = answer.runs;
  } else if (answer.runs.length > 0 || (answer.removed ?? []).length > 0) {
    const merged = new Map(list.map(run => [run.id, run]));
    for (const run of answer.runs) merged.set(run.id, run);
    for (const id of answer.removed ?? []) merged.delete(id);
    list = [...merged.values()];
  }
  ready = true;
  return answer;
}

const wanted = new Map<string, Set<string>>(); // who wants which columns

/** Says which table columns someone needs; they are loaded now and after changes. */
export function wantColumns(who: string, columns: readonly string[]): void {
  untrack(() => want(who, columns));
}

function want(who: string, columns: readonly string[]): void {
  wanted.set(who, new Set(columns));
  const missing = columns.filter(column => !cells.has(column));
  if (missing.length > 0)
    afterFirstPaint()
      .then(() => fetchCells(missing))
      .catch(() => {}); // cells stay empty; the next change asks again
}

/** The columns that decide what is shown, in which order and colour. */
export function viewColumns(): string[] {
  const hparamsOf = (spec: string): string[] =>
    spec.startsWith('hparam:')
      ? spec
          .slice(7)
          .split(',')
          .map(name => `hparam:${name}`)
      : [];
  const sort = runsView.sort[0];
  return [
    ...new Set([
      ...runsView.filters.map(one => one.col),
      ...(filter.query?.columns ?? []),
      ...hparamsOf(runsView.group),
      ...hparamsOf(runsView.colour),
      ...(sort.includes(':') ? [sort] : []),
    ]),
  ];
}

/** Keeps their cells. Called once by the shell. */
export function keepCells(): () => void {
  return $effect.root(() => {
    $effect(() => wantColumns('view', viewColumns()));
  });
}

export async function refreshCells(): Promise<void> {
  const all = new Set<string>();
  for (const columns of wanted.values()) for (const column of columns) all.add(column);
  if (all.size > 0) await fetchCells([...all]);
}

/** All runs in these columns. */
export function tableQuestion(columns: readonly string[]): object {
  return {columns, filter: [], sort: [], offset: 0, limit: 1_000_000, group: null};
}

async function fetchCells(columns: readonly string[]): Promise<void> {
  const answer = await client().ask<TableAnswer>('table', tableQuestion(columns));
  const next = new Map(cells);
  answer.columns.forEach((column, k) => {
    const values = new Map<number, Cell>();
    answer.data[k]?.forEach((value, row) => values.set(answer.ids[row]!, fromWire(value)));
    next.set(columns[k] ?? column.id, values);
  });
  cells = next;
}

function fromWire(value: Cell): Cell {
  if (value === 'NaN') return NaN;
  if (value === 'Infinity') return Infinity;
  return value === '-Infinity' ? -Infinity : value;
}
