// The data of one chart of lines: asked when it is in view and something about the question changed;
// coarse data stay until finer ones are here.
import {untrack} from 'svelte';
import {ApiError, client} from '../data/client.ts';
import {allExact} from '../data/chart-series.ts';
import type {Columns} from '../data/columns.ts';
import type {ColumnsQuestion} from '../data/types.ts';
import type {Domain} from '../draw/scale.ts';
import {onChange, unlessPaused} from './live.svelte.ts';
import {runs} from './runs.svelte.ts';
import {tags} from './tags.svelte.ts';
import type {Loaded} from './line-model.ts';
import {MANY, questionOf, type Lines} from './line-question.ts';

export interface LineData {
  readonly base: Loaded | null; // the whole range
  readonly detail: Loaded | null; // the zoomed range, finer
  readonly groups: Loaded | null; // group lines
  readonly groupsDetail: Loaded | null;
  /** The finest there is for a range: lines of runs, lines of groups. */
  shown(zoom: Domain | null): {readonly lines: Loaded | null; readonly centres: Loaded | null};
  readonly error: string;
  readonly loading: boolean;
  /** Asks for more points than an overview needs (the card is large or looked at). */
  refine(): void;
  stop(): void;
}

const AT_ONCE = 3;
const QUICK_MS = 120; // between two questions of the card whose range is being changed
const REST_MS = 200; // after which a range counts as chosen, for the other cards

let lastViewed = $state<string | null>(null); // the card that was zoomed, enlarged or rested on last

let running = 0;
let answered = false; // the very first question has the server for itself
const waiting: (() => void)[] = [];

/** At most a few questions at a time, in order: the first card is complete first. */
async function inTurn<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  if (running >= (answered ? AT_ONCE : 1)) await new Promise<void>(resolve => waiting.push(resolve));
  if (signal.aborted) {
    waiting.shift()?.();
    throw new DOMException('not needed any more', 'AbortError');
  }
  running++;
  try {
    return await work();
  } finally {
    running--;
    const free = answered ? 1 : AT_ONCE;
    answered = true;
    for (let i = 0; i < free; i++) waiting.shift()?.();
  }
}

const turns: (() => void)[] = [];

/** Answers of many lines are taken one a frame: to make their series costs some milliseconds each. */
function frameOfItsOwn(): Promise<void> {
  if (document.hidden) return Promise.resolve();
  return new Promise(resolve => {
    turns.push(resolve);
    if (turns.length === 1) requestAnimationFrame(nextTurn);
  });
}

function nextTurn(): void {
  turns.shift()?.();
  if (turns.length > 0) requestAnimationFrame(nextTurn);
}

export interface LineSource {
  readonly key: string; // of the card
  lines(): Lines;
  zoom(): Domain | null;
  inView(): boolean;
  widthPx(): number;
}

export function createLineData({key, lines, zoom: zoomed, inView, widthPx}: LineSource): LineData {
  let base = $state.raw<Loaded | null>(null);
  let detail = $state.raw<Loaded | null>(null);
  let groups = $state.raw<Loaded | null>(null);
  let groupsDetail = $state.raw<Loaded | null>(null);
  let error = $state('');
  let loading = $state(false);
  let version = $state(0); // grows when new points may be there
  const asked = new Map<string, string>(); // slot → question on its way or answered
  const aborts = new Map<string, AbortController>();
  const cost = {ms: 0};
  let timer = 0;

  const stopListening = onChange(change => {
    const {tags: names, runs: shown} = lines();
    const ids = names.map(tag => tags.find('scalar', tag)?.id ?? null);
    if (!ids.some(id => change.touches(null, id) || shown.some(run => change.touches(run.id, id)))) return;
    // Not more often than the answer takes to come and be drawn.
    if (timer === 0)
      timer = window.setTimeout(
        () => {
          timer = 0;
          if (change.isWanted) version++;
          else unlessPaused(() => version++);
        },
        Math.min(5000, Math.max(30, cost.ms * 3, shown.length > MANY ? 500 + 2 * shown.length : 0)),
      );
  });

  function question(range: Domain | null, grouped: boolean): ColumnsQuestion | null {
    return questionOf(lines(), {range, grouped, width: widthPx(), fine: lastViewed === key});
  }

  async function load(
    slot: string,
    q: ColumnsQuestion | null,
    put: (loaded: Loaded | null) => void,
    current: Loaded | null,
  ): Promise<void> {
    const range = q?.range == null ? null : ([q.range[0], q.range[1]] as Domain);
    const grouped = q?.group != null;
    if (q === null) {
      asked.delete(slot);
      aborts.get(slot)?.abort();
      put(null);
      return;
    }
    const local = current !== null && range === null && !grouped && allExact(current.columns);
    const text = JSON.stringify(local ? {...q, smooth: null} : q) + version + runs.boot;
    const full = JSON.stringify({...q, smooth: null}) + version + runs.boot;
    if (asked.get(slot) === text || (local && asked.get(`${slot} bare`) === full)) return;
    asked.set(slot, text);
    asked.set(`${slot} bare`, full);
    aborts.get(slot)?.abort();
    const abort = new AbortController();
    aborts.set(slot, abort);
    loading = true;
    const began = performance.now();
    try {
      const work = (): Promise<Columns> => client().columns('columns', q, {signal: abort.signal});
      const columns = lastViewed === key && range !== null ? await work() : await inTurn(abort.signal, work); // a zoom does not wait in the queue
      cost.ms = performance.now() - began;
      if ((current !== null || range !== null) && columns.series.length > MANY) await frameOfItsOwn();
      if (abort.signal.aborted) return;
      put({columns, range});
      error = '';
    } catch (problem) {
      if (abort.signal.aborted) return;
      asked.delete(slot);
      error = problem instanceof ApiError ? `${problem.message} ${problem.fix}`.trim() : String(problem);
    } finally {
      if (aborts.get(slot) === abort) {
        aborts.delete(slot);
        loading = aborts.size > 0;
      }
    }
  }

  // A wheel or a pan changes the range many times a second. The card that is looked at asks at once when it has
  // not just asked and its lines are few, everyone else when the range has rested.
  let range = $state.raw<Domain | null>(null);
  let settled = 0;
  let changed = 0;
  let restoring = true; // a range from the link is asked for at once
  function follow(zoom: Domain | null): void {
    clearTimeout(settled);
    if (zoom?.[0] === range?.[0] && zoom?.[1] === range?.[1]) {
      restoring = false;
      return;
    }
    const now = performance.now();
    const quick =
      restoring ||
      (lastViewed === key && now - changed > QUICK_MS && lines().runs.length * lines().tags.length <= MANY);
    restoring = false;
    changed = now;
    if (zoom === null || quick) range = zoom;
    else settled = window.setTimeout(() => (range = zoom), lastViewed === key ? QUICK_MS : REST_MS);
  }

  const stopEffect = $effect.root(() => {
    $effect(() => {
      const zoom = zoomed();
      untrack(() => follow(zoom));
    });
    $effect(() => {
      if (!inView() || widthPx() < 20) return;
      const zoom = range;
      void version;
      const grouping = runs.groups.length > 0;
      const asks = {
        base: question(null, false),
        groups: grouping ? question(null, true) : null,
        detail: zoom === null ? null : question(zoom, false),
        groupsDetail: zoom !== null && grouping ? question(zoom, true) : null,
      };
      untrack(() => {
        void load('detail', asks.detail, loaded => (detail = loaded), detail);
        void load('groupsDetail', asks.groupsDetail, loaded => (groupsDetail = loaded), groupsDetail);
        void load('groups', asks.groups, loaded => (groups = loaded), groups);
        void load('base', asks.base, loaded => (base = loaded), base);
      });
    });
  });

  const covers = (loaded: Loaded | null, zoom: Domain | null): boolean =>
    loaded?.range != null && zoom !== null && loaded.range[0] <= zoom[0] && loaded.range[1] >= zoom[1];

  return {
    shown: zoom => ({
      lines: covers(detail, zoom) ? detail : base,
      centres: covers(groupsDetail, zoom) ? groupsDetail : groups,
    }),
    get base() {
      return base;
    },
    get detail() {
      return detail;
    },
    get groups() {
      return groups;
    },
    get groupsDetail() {
      return groupsDetail;
    },
    get error() {
      return error;
    },
    get loading() {
      return loading;
    },
    refine: () => void (lastViewed = key),
    stop: () => {
      stopEffect();
      stopListening();
      clearTimeout(timer);
      clearTimeout(settled);
      for (const abort of aborts.values()) abort.abort();
    },
  };
}
