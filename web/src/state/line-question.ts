// What a chart of lines asks the server: which series, how fine, how smoothed.
import {expressionOf, type LineSettings} from '../data/chart-series.ts';
import type {ColumnsQuestion, Run} from '../data/types.ts';
import type {Domain} from '../draw/scale.ts';
import {runs} from './runs.svelte.ts';
import {tagHasRun, tags} from './tags.svelte.ts';

const OVERVIEW_CELLS = 27_000; // points a card asks for at first
const FINE_CELLS = 120_000; // for the one card that is looked at
export const MANY = 50; // lines; above that only what every line needs is asked for

/** Whose lines a chart shows, and how. */
export interface Lines {
  readonly tags: readonly string[];
  readonly settings: LineSettings;
  readonly restarts: 'newest' | 'all';
  readonly runs: readonly Run[]; // shown, in order
  has(run: number): boolean; // whether a run is shown
  readonly second?: readonly string[]; // those of `tags` that have the axis at the right
}

export interface Wish {
  readonly range: Domain | null;
  readonly grouped: boolean; // the groups' lines, not the runs'
  readonly width: number; // of the plot, CSS pixels
  readonly fine: boolean;
}

/** Null when no series would answer. */
export function questionOf(lines: Lines, wish: Wish): ColumnsQuestion | null {
  const {grouped} = wish;
  const s = lines.settings;
  const grouping = runs.groups.length > 0;
  const wanted = grouped
    ? []
    : !grouping
      ? lines.runs
      : s.members === 'hide'
        ? runs.ungrouped.filter(run => lines.has(run.id))
        : lines.runs;
  const sets = grouped
    ? runs.groups.map(group => ({
        key: group.key,
        runs: group.members.filter(run => lines.has(run.id)).map(run => run.id),
      }))
    : [];
  const series = lines.tags.map(name => {
    const ids = grouped ? sets.flatMap(set => set.runs) : wanted.map(run => run.id);
    const expr = expressionOf(name);
    if (expr !== null) return {expr, runs: ids};
    const tag = tags.find('scalar', name);
    const having = tag === undefined ? [] : ids.filter(id => tagHasRun(tag, id));
    return {tag: name, runs: having};
  });
  const total = series.reduce((sum, one) => sum + one.runs.length, 0);
  if (total === 0 || (grouped && sets.every(set => set.runs.length === 0))) return null;
  const count = grouped ? Math.max(1, sets.length) : total;
  const many = count > MANY;
  const px = Math.max(64, Math.round(wish.width));
  const agg = many ? ['min', 'max', 'last'] : ['min', 'max', 'mean', 'last', 'wall'];
  if (s.x.startsWith('tag:')) agg.push('step');
  return {
    x: s.x,
    xscale: s.xscale,
    range: wish.range,
    px: Math.max(24, Math.min(px, Math.floor((wish.fine ? FINE_CELLS : OVERVIEW_CELLS) / count))),
    agg,
    smooth: s.smooth,
    restarts: lines.restarts,
    series: series.map(one => ({
      ...one,
      runs: !grouped && one.runs.length === runs.all.length && many ? 'all' : one.runs,
    })),
    group: grouped ? {sets, centre: s.centre, band: s.band === 'none' ? 'minmax' : s.band} : null,
  };
}
