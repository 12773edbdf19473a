// Small curves of the objective for the rows in view, asked for together and kept.
import {untrack} from 'svelte';
import {client} from '../../data/client.ts';
import {onChange} from '../../state/live.svelte.ts';
import {runs} from '../../state/runs.svelte.ts';
import {metricOf} from './model.ts';
import {isIn, placeOf} from './place.ts';

const [WIDTH, HEIGHT] = [72, 18];

export interface Curves {
  /** An SVG path, or undefined while there is none. */
  of(ids: readonly number[]): string | undefined;
}

export function createCurves(metric: () => string, rows: () => readonly (readonly number[])[]): Curves {
  let paths = $state.raw<ReadonlyMap<number, string>>(new Map());
  let known = new Set<number>(); // asked for
  let tag = '';
  $effect(() => onChange(() => void (known = new Set())));
  $effect(() => {
    const id = metric();
    const now = id === '' ? '' : metricOf(id).tag;
    if (now !== tag) {
      [tag, known] = [now, new Set()];
      paths = new Map();
    }
    const place = placeOf(now);
    const ids = [
      ...new Set(rows().flatMap(row => row.filter(run => isIn(place, runs.byId(run)?.name ?? '')).slice(0, 4))),
    ].filter(run => !known.has(run));
    if (now === '' || ids.length === 0) return;
    const stop = new AbortController();
    const wait = setTimeout(() => {
      for (const run of ids) known.add(run);
      client()
        .columns(
          'columns',
          {
            x: 'step',
            xscale: 'linear',
            range: null,
            px: 36,
            agg: ['last'],
            smooth: {kind: 'none', p: 0},
            restarts: 'newest',
            series: [{tag: place.tag, runs: ids}],
            group: null,
          },
          {signal: stop.signal},
        )
        .then(
          answer => {
            const next = new Map(untrack(() => paths));
            for (const one of answer.series)
              next.set(one.run, pathOf(answer.part('x', one) ?? [], answer.part('last', one) ?? []));
            paths = next;
          },
          () => {},
        ); // a row without its small curve is still a row
    }, 120);
    return () => clearTimeout(wait);
  });
  return {of: ids => ids.map(id => paths.get(id)).find(path => path !== undefined)};
}

export function pathOf(x: ArrayLike<number>, y: ArrayLike<number>): string {
  let [lo, hi] = [Infinity, -Infinity];
  for (let i = 0; i < y.length; i++) {
    if (!Number.isFinite(y[i]!)) continue;
    lo = Math.min(lo, y[i]!);
    hi = Math.max(hi, y[i]!);
  }
  if (y.length < 2 || !(lo <= hi)) return '';
  const [x0, span] = [x[0]!, x[x.length - 1]! - x[0]! || 1];
  let path = '';
  let brush = false;
  for (let i = 0; i < y.length; i++) {
    if (!Number.isFinite(y[i]!)) {
      brush = false;
      continue;
    }
    path += `${brush ? 'L' : 'M'}${(((x[i]! - x0) / span) * WIDTH).toFixed(1)} ${(hi > lo ? HEIGHT - 2 - ((y[i]! - lo) / (hi - lo)) * (HEIGHT - 4) : HEIGHT / 2).toFixed(1)}`;
    brush = true;
  }
  return path;
}
