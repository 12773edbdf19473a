// What a card asks the server: which series, how fine, how smoothed.
import type {ColumnsQuestion} from '../../data/types.ts';
import type {Domain} from '../../draw/scale.ts';
import {runs} from '../../state/runs.svelte.ts';
import {tagHasRun, tags} from '../../state/tags.svelte.ts';
import {settingsOf, view} from './settings.svelte.ts';

const OVERVIEW_CELLS = 27_000; // points a card asks for at first
const FINE_CELLS = 120_000; // for the one card that is looked at
export const MANY = 50; // lines; above that only what every line needs is asked for

export interface Wish {
  readonly key: string; // of the card
  readonly tags: readonly string[];
  readonly range: Domain | null;
  readonly grouped: boolean; // the groups' lines, not the runs'
  readonly width: number; // of the plot, CSS pixels
  readonly fine: boolean;
}

/** Null when no series would answer. */
export function questionOf(wish: Wish): ColumnsQuestion | null {
  const {grouped} = wish;
  const s = settingsOf(wish.key);
  const grouping = runs.groups.length > 0;
  const wanted = grouped
    ? []
    : !grouping
      ? runs.shown
      : s.members === 'hide'
        ? runs.ungrouped.filter(run => runs.isShown(run.id))
        : runs.shown;
  const sets = grouped
    ? runs.groups.map(group => ({
        key: group.key,
        runs: group.members.filter(run => runs.isShown(run.id)).map(run => run.id),
      }))
    : [];
  const series = wish.tags.map(name => {
    const tag = tags.find('scalar', name);
    const ids = grouped ? sets.flatMap(set => set.runs) : wanted.map(run => run.id);
    const having = tag === undefined ? [] : ids.filter(id => tagHasRun(tag, id));
    return {tag: name, runs: having};
  });
  const total = series.reduce((sum, one) => sum + one.runs.length, 0);
  if (total === 0 || (grouped && sets.every(set => set.runs.length === 0))) return null;
  const lines = grouped ? Math.max(1, sets.length) : total;
  const many = lines > MANY;
  const px = Math.max(64, Math.round(wish.width));
  const agg = many ? ['min', 'max', 'last'] : ['min', 'max', 'mean', 'last', 'wall'];
  if (s.x.startsWith('tag:')) agg.push('step');
  return {
    x: s.x,
    xscale: s.xscale,
    range: wish.range,
    px: Math.max(24, Math.min(px, Math.floor((wish.fine ? FINE_CELLS : OVERVIEW_CELLS) / lines))),
    agg,
    smooth: s.smooth,
    restarts: view.restarts,
    series: series.map(one => ({
      ...one,
      runs: !grouped && one.runs.length === runs.all.length && many ? 'all' : one.runs,
    })),
    group: grouped ? {sets, centre: s.centre, band: s.band === 'none' ? 'minmax' : s.band} : null,
  };
}
