// How many points of a card its vertical axis does not reach. Counted in the points themselves: here where all of them
// are at hand, by the server where the lines are thinned.
import {untrack} from 'svelte';
import {client} from '../../data/client.ts';
import type {ChartLayout} from '../../draw/chart-layout.ts';
import type {ChartSeries} from '../../draw/chart-model.ts';
import type {Domain} from '../../draw/scale.ts';
import {view} from './settings.svelte.ts';

export interface Outside {
  readonly above: number;
  readonly below: number;
  /** A range of values in which they can be seen; null when there are none. */
  range(): Domain | null;
  stop(): void;
}

interface Wish {
  readonly key: string;
  readonly tags: readonly string[];
  layout(): ChartLayout | null; // null: nothing is counted
  series(): readonly ChartSeries[];
  x(): string;
}

const REST_MS = 250; // the range has not changed for so long

export function createOutside(wish: Wish): Outside {
  let count = $state.raw({above: 0, below: 0});
  let timer = 0;
  let asked = 0;
  const put = (above: number, below: number): void => {
    if (count.above !== above || count.below !== below) count = {above, below};
  };
  function look(layout: ChartLayout, series: readonly ChartSeries[], x: string): void {
    const [x0, x1] = layout.x.domain;
    const [y0, y1] = layout.y.domain;
    const mine = ++asked;
    const thinned = series.filter(one => !one.exact);
    let [above, below, maybe] = [0, 0, false];
    for (const {x: xs, y, raw, lo, hi, exact} of series) {
      for (let i = 0; i < xs.length; i++) {
        if (xs[i]! < x0 || xs[i]! > x1) continue;
        const value = (raw ?? y)[i]!;
        if (exact) {
          if (value > y1) above++;
          else if (value < y0) below++;
        } else if ((hi?.[i] ?? value) > y1 || (lo?.[i] ?? value) < y0) {
          maybe = true;
          break;
        }
      }
    }
    if (thinned.length === 0 || x.startsWith('tag:')) return put(above, below);
    if (!maybe) return put(above, below);
    const question = {
      x,
      range: [x0, x1],
      restarts: view.restarts,
      low: y0,
      high: y1,
      series: wish.tags.map(tag => ({
        tag,
        runs: series.filter(one => one.tag === tag && one.run >= 0).map(one => one.run),
      })),
    };
    client()
      .ask<{below: number; above: number}>('outside', question)
      .then(
        answer => mine === asked && put(answer.above, answer.below),
        () => {}, // an older server does not count: the last answer stays
      );
  }
  const stop = $effect.root(() => {
    $effect(() => {
      const [layout, series, x] = [wish.layout(), wish.series(), wish.x()];
      clearTimeout(timer);
      untrack(() => {
        if (layout === null || series.length === 0) {
          asked++;
          put(0, 0);
        } else timer = window.setTimeout(() => look(layout, series, x), REST_MS);
      });
    });
  });
  return {
    get above() {
      return count.above;
    },
    get below() {
      return count.below;
    },
    range: () => {
      const layout = wish.layout();
      let [lo, hi] = [Infinity, -Infinity];
      if (layout === null) return null;
      const [x0, x1] = layout.x.domain;
      for (const one of wish.series()) {
        for (let i = 0; i < one.x.length; i++) {
          if (one.x[i]! < x0 || one.x[i]! > x1) continue;
          const value = (one.raw ?? one.y)[i]!;
          const [a, b] = [one.lo?.[i] ?? value, one.hi?.[i] ?? value];
          if (Number.isFinite(a)) lo = Math.min(lo, a);
          if (Number.isFinite(b)) hi = Math.max(hi, b);
        }
      }
      if (!(lo <= hi)) return null;
      const room = (hi - lo) * 0.04 || 1;
      return layout.y.kind === 'log' ? [Math.max(lo, Number.MIN_VALUE) / 1.1, hi * 1.1] : [lo - room, hi + room];
    },
    stop: () => {
      stop();
      clearTimeout(timer);
      asked++;
    },
  };
}
