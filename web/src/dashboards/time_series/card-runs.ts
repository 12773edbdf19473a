// Which runs a card could draw, and why it does not draw some of them.
import type {Run} from '../../data/types.ts';
import {runs} from '../../state/runs.svelte.ts';
import {tagHasRun, tags} from '../../state/tags.svelte.ts';
import type {CardSpec} from './sections.ts';

const hasTag = (card: CardSpec): ((run: Run) => boolean) => {
  const own = card.tags.flatMap(name => tags.find('scalar', name) ?? []);
  return run => own.some(tag => tagHasRun(tag, run.id));
};

/** Runs that are shown and have one of the card's tags. */
export const drawableRuns = (card: CardSpec): Run[] => runs.shown.filter(hasTag(card));

/** Runs that have one of its tags, shown or not. */
export const runsWithTag = (card: CardSpec): Run[] => runs.all.filter(hasTag(card));

/** Runs that would be drawn, had they a value of the other axis. */
export function runsWithoutAxis(drawable: readonly Run[], x: string): Run[] {
  if (!x.startsWith('tag:')) return [];
  const axis = tags.find('scalar', x.slice(4));
  return drawable.filter(run => axis === undefined || !tagHasRun(axis, run.id));
}
