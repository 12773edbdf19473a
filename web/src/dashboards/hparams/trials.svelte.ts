// The trials in memory: described once, loaded by column, asked again when runs change.
import {untrack} from 'svelte';
import {describeTrials, loadImportance, loadTrials, type HparamColumn, type Importance} from '../../data/hparams.ts';
import {onChange} from '../../state/live.svelte.ts';
import {runs} from '../../state/runs.svelte.ts';
import {t} from '../../text/messages.ts';
import {autoColumns, isLowerBetter, rankMetrics} from './choose.ts';
import {labelOf, metricOf, passing, sorted, trialsOf, type Column, type Trials} from './model.ts';
import {view} from './view.svelte.ts';

const ALWAYS = ['name', 'status', 'start', 'duration'];

let all = $state.raw<readonly HparamColumn[]>([]); // every column there is
let data = $state.raw<Trials | null>(null);
let failed = $state('');
let described = $state(false);
let version = $state(0);
let weights = $state.raw<{readonly metric: string; readonly n: number; readonly columns: readonly Importance[]} | null>(
  null,
);

const titles = $derived(new Map(all.filter(one => (one.title ?? '') !== '').map(one => [one.id, one.title!])));
/** The name that its writer declared for it, else its own. */
export const label = (id: string): string => labelOf(id, key => t(`hparams.${key}`), titles);

const objective = $derived(view.objective !== '' ? view.objective : (rankMetrics(all)[0] ?? ''));
const columns = $derived(view.columns ?? autoColumns(all));
const goal = $derived(view.goal !== '' ? view.goal : objective !== '' && isLowerBetter(objective) ? 'min' : 'max');
const wanted = $derived([
  ...new Set([
    ...ALWAYS,
    ...columns,
    ...[objective, view.colour, view.second].filter(id => id !== ''),
    ...view.filters.map(one => one.col),
    ...(view.sort === null ? [] : [view.sort[0]]),
  ]),
]);
const colour = $derived(
  view.colour !== ''
    ? view.colour
    : objective !== ''
      ? objective
      : (columns.find(id => data?.columns.get(id)?.names === null) ?? ''),
);
const sort = $derived<[string, 'asc' | 'desc']>(
  view.sort ?? (objective === '' ? ['name', 'asc'] : [objective, goal === 'max' ? 'desc' : 'asc']),
);

/** Trials of the whole page: status and the choice of runs elsewhere, then the filters. */
const pass = $derived.by(() => {
  if (data === null) return new Uint8Array(0);
  const kept = passing(data.columns, view.filters, data.n);
  const status = data.columns.get('status');
  if (view.status.length > 0 && status?.names) {
    const off = new Set(view.status);
    for (let i = 0; i < kept.length; i++) if (off.has(status.names[status.v[i]!] ?? 'unknown')) kept[i] = 0;
  }
  if (view.chosen) for (let i = 0; i < kept.length; i++) if (!data.ids[i]!.some(id => runs.isShown(id))) kept[i] = 0;
  return kept;
});
/** The main runs of those that pass; null when all do. */
const kept = $derived.by(() => {
  if (data === null || !pass.includes(0)) return null;
  const {ids} = data;
  return ids.map(runs => runs[0]).filter((id, row): id is number => pass[row] === 1 && id !== undefined);
});
const order = $derived(
  data === null ? new Int32Array(0) : sorted(pass, sort[0] === 'name' ? undefined : data.columns.get(sort[0]), sort[1]),
);
const rows = $derived(sort[0] === 'name' && sort[1] === 'desc' ? order.slice().reverse() : order);

export const trials = {
  get all(): readonly HparamColumn[] {
    return all;
  },
  get data(): Trials | null {
    return data;
  },
  get failed(): string {
    return failed;
  },
  get described(): boolean {
    return described;
  },
  get objective(): string {
    return objective;
  },
  get goal(): 'max' | 'min' {
    return goal;
  },
  get columns(): readonly string[] {
    return columns;
  },
  /** Shown columns that are loaded. */
  get shown(): readonly Column[] {
    return columns.map(id => data?.columns.get(id)).filter(one => one !== undefined);
  },
  get colour(): string {
    return colour;
  },
  get sort(): readonly [string, 'asc' | 'desc'] {
    return sort;
  },
  get pass(): Uint8Array {
    return pass;
  },
  get kept(): readonly number[] | null {
    return kept;
  },
  /** Rows that pass, in the order of the table. */
  get rows(): Int32Array {
    return rows;
  },
  get weights(): typeof weights {
    return weights;
  },
  weight: (id: string): Importance | undefined =>
    weights?.metric === objective ? weights.columns.find(one => one.col === id) : undefined,
  retry: (): void => void version++,
};

/** Loads while the page is open. Returns the stop function. */
export function keepTrials(): () => void {
  let timer = 0;
  let last = 0;
  const stopChange = onChange(() => {
    clearTimeout(timer);
    timer = window.setTimeout(
      () => {
        last = Date.now();
        version++;
      },
      Math.max(300, 3000 - (Date.now() - last)),
    );
  });
  const stopRoot = $effect.root(() => {
    $effect(() => {
      void version;
      const which = {rows: view.rows, aggregate: view.aggregate};
      const stop = new AbortController();
      describeTrials(which, {signal: stop.signal}).then(
        answer => {
          all = answer.columns;
          described = true;
          failed = '';
        },
        (problem: unknown) => fail(problem, stop),
      );
      return () => stop.abort();
    });
    $effect(() => {
      void version;
      if (!described) return;
      const which = {rows: view.rows, aggregate: view.aggregate};
      const known = new Set(all.map(one => one.id));
      const ids = wanted.filter(
        id =>
          ALWAYS.includes(id) ||
          known.has(id) ||
          (id.startsWith('metric:') && known.has(`metric:${metricOf(id).tag}:last`)),
      );
      const key = JSON.stringify([which, version]);
      const have = untrack(() => (data !== null && key === loadedKey ? data : null));
      const missing = have === null ? ids : ids.filter(id => !have.columns.has(id));
      if (missing.length === 0) return;
      const stop = new AbortController();
      loadTrials(which, have === null ? ids : ['name', ...missing], {signal: stop.signal}).then(
        answer => {
          const next = trialsOf(answer, label);
          const same = have !== null && next.n === have.n && next.names.every((name, i) => name === have.names[i]);
          if (have !== null && !same) return void version++; // rows came or went between two questions
          data = have === null ? next : {...next, columns: new Map([...have.columns, ...next.columns])};
          loadedKey = key;
          failed = '';
        },
        (problem: unknown) => fail(problem, stop),
      );
      return () => stop.abort();
    });
    $effect(() => {
      const metric = objective;
      const n = data?.n ?? 0;
      if (metric === '' || n < 3) return;
      const which = {rows: view.rows, aggregate: view.aggregate};
      const {method} = view;
      const only = kept;
      const stop = new AbortController();
      const wait = setTimeout(
        () => {
          loadImportance(metric.slice(7), method, which, only, {signal: stop.signal}).then(
            answer => void (weights = {metric, ...answer}),
            () => {},
          ); // axes do without it; the page of importance says so
        },
        n > 2000 ? 1500 : 100,
      );
      return () => {
        clearTimeout(wait);
        stop.abort();
      };
    });
  });
  return () => {
    clearTimeout(timer);
    stopChange();
    stopRoot();
  };
}
let loadedKey = '';

function fail(problem: unknown, stop: AbortController): void {
  if (!stop.signal.aborted) failed = problem instanceof Error ? problem.message : String(problem);
}
