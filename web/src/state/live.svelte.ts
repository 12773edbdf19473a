// The connection: first load, pushed changes, pause and reload, loading progress.
import {client} from '../data/client.ts';
import {openStream, type Stream, type StreamEvent} from '../data/events.ts';
import type {ChangedEvent, Info, LoadEvent} from '../data/types.ts';
import {loadRuns, refreshCells, runs} from './runs.svelte.ts';
import {afterFirstPaint} from './first-paint.svelte.ts';
import {loadSidecar} from './sidecar.svelte.ts';
import {preferences} from './preferences.svelte.ts';
import {loadTags} from './tags.svelte.ts';

/** What changed: asked by whoever shows data. */
export interface Change {
  /** Whether a series of this run and tag (ids) may have new points. */
  touches(run: number | null, tag: number | null): boolean;
  readonly isWanted?: boolean; // somebody asked for it: also while updates are paused
}

type State = 'connecting' | 'open' | 'polling' | 'waiting' | 'paused';

const inner = $state({
  state: 'connecting' as State,
  lastChange: 0,
  retryAt: 0,
  pending: 0,
  reloading: false,
  error: '',
  damageRev: 0,
  sessionRev: 0,
  jobRev: 0,
});
let info = $state.raw<Info | null>(null);
let load = $state.raw<LoadEvent | null>(null);
let job = $state.raw<unknown>(null);
let stream: Stream | undefined;
let pollTimer = 0;
const listeners = new Set<(change: Change) => void>();

export const live = {
  get state(): State {
    return inner.state;
  },
  get info(): Info | null {
    return info;
  },
  /** Reading progress of the server, null when everything is read. */
  get load(): LoadEvent | null {
    return load;
  },
  /** When the last change arrived, ms since 1970; 0 = none yet. */
  get lastChange(): number {
    return inner.lastChange;
  },
  get retryAt(): number {
    return inner.retryAt;
  },
  /** Changes held back while paused. */
  get pending(): number {
    return inner.pending;
  },
  get reloading(): boolean {
    return inner.reloading;
  },
  get error(): string {
    return inner.error;
  },
  /** Counters that grow when damage, profile sessions or jobs changed: read them in an $effect. */
  get damageRev(): number {
    return inner.damageRev;
  },
  get sessionRev(): number {
    return inner.sessionRev;
  },
  get jobRev(): number {
    return inner.jobRev;
  },
  /** Data of the last `job` event. */
  get job(): unknown {
    return job;
  },
};

/** Calls back after new data arrived (runs and tags are already up to date). Returns the stop function. */
export function onChange(listener: (change: Change) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

const reopened = new Set<() => void>();

/** Calls back whenever the connection stands again: what failed meanwhile can be asked anew. Returns the stop function. */
export function onReopen(listener: () => void): () => void {
  reopened.add(listener);
  return () => reopened.delete(listener);
}

function tellReopened(): void {
  for (const listener of reopened) listener();
}

let begun: Promise<void> | undefined;
/** Runs, tags, notes: asked once, before or while the shell is put up. */
export function beginLoad(): Promise<void> {
  begun ??= firstLoad();
  return begun;
}

export async function startLive(): Promise<void> {
  await beginLoad();
  await afterFirstPaint();
  addEventListener('online', tellReopened); // the stream may have outlived what cut off single requests
  if (stopped) return;
  stream = openStream(
    client(),
    receive,
    (state, retryAt) => {
      inner.retryAt = retryAt;
      streaming = state === 'open';
      if (inner.state !== 'paused') inner.state = state === 'open' ? 'open' : 'waiting';
      if (state === 'open') {
        inner.error = '';
        clearInterval(pollTimer);
        pollTimer = 0;
        tellReopened();
      } else if (pollTimer === 0) {
        pollTimer = window.setInterval(() => void poll(), Math.max(5, preferences.pollSeconds) * 1000);
      }
    },
    runs.boot === '' ? '' : `${runs.boot}.${runs.rev}`,
  );
}

let streaming = false;
let stopped = false;
export function stopLive(): void {
  stopped = true;
  removeEventListener('online', tellReopened);
  stream?.close();
  clearInterval(pollTimer);
}

export function retryNow(): void {
  stream?.retry();
}

async function firstLoad(): Promise<void> {
  try {
    const [answer] = await Promise.all([client().get<Info>('info'), loadRuns(true), loadTags(true), loadSidecar()]);
    info = answer;
    inner.error = '';
    if (inner.state === 'waiting' && streaming) inner.state = 'open';
  } catch (problem) {
    inner.error = problem instanceof Error ? problem.message : String(problem);
    inner.state = 'waiting';
  }
}

async function poll(): Promise<void> {
  try {
    const answer = await client().get<Info>('info');
    if (inner.state === 'waiting') inner.state = 'polling';
    if (answer.boot !== info?.boot || answer.rev !== info?.rev) await reload();
  } catch {
    inner.state = 'waiting';
  }
}

/** Asks everything again. */
export async function reload(): Promise<void> {
  inner.reloading = true;
  await firstLoad();
  tell({touches: () => true, isWanted: true});
  inner.reloading = false;
}

const onResume: (() => void)[] = [];
/** Does it now, or when updates are no longer paused. */
export function unlessPaused(work: () => void): void {
  if (inner.state === 'paused') onResume.push(work);
  else work();
}

export function togglePause(): void {
  if (inner.state === 'paused') {
    inner.state = 'open';
    for (const work of onResume.splice(0)) work();
    if (inner.pending > 0) void applyChanges();
  } else {
    inner.state = 'paused';
  }
}

let changes: ChangedEvent[] = [];
let runsTouched = false;
let timer = 0;

function receive(event: StreamEvent): void {
  const data = (event.data ?? {}) as Record<string, unknown>;
  if (event.type === 'hello') {
    if (info !== null && data['boot'] !== info.boot) void reload();
  } else if (event.type === 'reset') {
    void reload();
  } else if (event.type === 'changed' || event.type === 'runs') {
    if (event.type === 'changed') changes.push(data as unknown as ChangedEvent);
    else runsTouched = true;
    inner.pending = changes.length + (runsTouched ? 1 : 0);
    if (inner.state !== 'paused' && timer === 0)
      timer = window.setTimeout(() => void applyChanges(), document.hidden ? 2000 : 50);
  } else if (event.type === 'load') {
    const progress = data as unknown as LoadEvent;
    load = progress.bytes_done >= progress.bytes && progress.files_done >= progress.files ? null : progress;
  } else if (event.type === 'damage') {
    inner.damageRev++;
  } else if (event.type === 'session') {
    inner.sessionRev++;
  } else if (event.type === 'job') {
    job = data;
    inner.jobRev++;
  } else if (event.type === 'sidecar') {
    void loadSidecar();
  }
}

let applying = false;
async function applyChanges(): Promise<void> {
  timer = 0;
  if (inner.state === 'paused') return;
  if (applying) {
    timer = window.setTimeout(() => void applyChanges(), 100);
    return;
  }
  applying = true;
  const taken = changes;
  changes = [];
  runsTouched = false;
  inner.pending = 0;
  try {
    await Promise.all([loadRuns(false), loadTags(false)]);
    unlessPaused(() => {
      inner.lastChange = Date.now();
      tell(changeOf(taken));
      scheduleCells();
    });
  } catch {
    // the stream's own state says that the server is away
  }
  applying = false;
}

let cellsTimer = 0;
function scheduleCells(): void {
  if (cellsTimer !== 0) return;
  cellsTimer = window.setTimeout(
    () => {
      cellsTimer = 0;
      refreshCells().catch(() => {});
    },
    runs.all.length > 500 ? 3000 : 500,
  );
}

function tell(change: Change): void {
  for (const listener of listeners) listener(change);
}

/** Several events as one question. */
export function changeOf(events: readonly ChangedEvent[]): Change {
  if (events.some(event => event.all === true || (event.series === undefined && event.runs === undefined)))
    return {touches: () => true};
  const pairs = new Set<string>();
  const runIds = new Set<number>();
  const tagIds = new Set<number>();
  const wholeRuns = new Set<number>();
  for (const event of events) {
    for (const [run, tag] of event.series ?? []) {
      pairs.add(`${run} ${tag}`);
      runIds.add(run);
      tagIds.add(tag);
    }
    for (const run of event.runs ?? []) wholeRuns.add(run);
  }
  return {
    touches: (run, tag) => {
      if (run === null) return wholeRuns.size > 0 || (tag === null ? pairs.size > 0 : tagIds.has(tag));
      if (wholeRuns.has(run)) return true;
      return tag === null ? runIds.has(run) : pairs.has(`${run} ${tag}`);
    },
  };
}
