// The step or range that all cards share: charts show it, images jump to it, histograms highlight it.
import {slice} from './view.svelte.ts';

export interface LinkedStep {
  on: boolean; // whether cards follow
  step: number | null;
  end: number | null; // set for a range step … end
}

export const linkedStep: LinkedStep = slice<LinkedStep>('link', {on: false, step: null, end: null});

/** The stored step closest to the linked one; the smaller on ties. -1 for an empty list. */
export function closestStep(steps: ArrayLike<number>, at: number): number {
  let best = -1;
  let distance = Infinity;
  for (let i = 0; i < steps.length; i++) {
    const d = Math.abs(steps[i]! - at);
    if (d < distance) {
      distance = d;
      best = i;
    }
  }
  return best;
}
