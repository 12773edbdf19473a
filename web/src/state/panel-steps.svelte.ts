// The step cursor of a page of panels: which steps its images, histograms, texts and tables have. Each panel says its
// own; the bar goes over all of them, and charts mark the step that it stands on.
import {SvelteMap} from 'svelte/reactivity';
import {cursor} from './media.svelte.ts';
import {linkedStep} from './linked.svelte.ts';

const lists = new SvelteMap<string, readonly Float64Array[]>(); // by panel
const all = $derived.by(() => {
  const steps = new Set<number>();
  for (const some of lists.values()) for (const list of some) for (const step of list) steps.add(step);
  return Float64Array.from(steps).sort();
});

export const panelSteps = {
  get all(): Float64Array {
    return all;
  },
  get now(): number | null {
    return cursor.step;
  },
};

export function saySteps(panel: string, steps: readonly Float64Array[]): void {
  lists.set(panel, steps);
}
export function forgetSteps(panel: string): void {
  lists.delete(panel);
}

/** Null follows the newest step. */
export function setStep(step: number | null): void {
  Object.assign(linkedStep, {on: step !== null, step, end: null});
  cursor.step = step;
}
