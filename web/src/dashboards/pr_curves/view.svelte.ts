// What the PR curves page shows; kept in the link.
import {slice} from '../../state/view.svelte.ts';

export interface PrView {
  filter: string;
  threshold: number | null; // marked on every curve and read out in every table
  own: Record<string, number>; // runs that stay at a step of their own, by name
}

export const view: PrView = slice<PrView>('pr', {filter: '', threshold: null, own: {}});

/** The point of a curve at a threshold; -1 when the curve has none there: points where nothing was predicted are not kept. */
export function indexOfThreshold(thresholds: ArrayLike<number>, at: number): number {
  let best = -1;
  for (let i = 0; i < thresholds.length; i++) {
    if (best < 0 || Math.abs(thresholds[i]! - at) < Math.abs(thresholds[best]! - at)) best = i;
  }
  if (best < 0) return -1;
  const apart = Math.min(
    ...Array.from({length: thresholds.length - 1}, (_, i) => Math.abs(thresholds[i + 1]! - thresholds[i]!)),
    1,
  );
  return Math.abs(thresholds[best]! - at) <= Math.max(0.005, apart / 2) * 1.001 ? best : -1;
}
