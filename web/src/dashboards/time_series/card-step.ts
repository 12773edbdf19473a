// The step or range a card shows values of: the one all charts share, or its own.
import {linkedStep} from '../../state/linked.svelte.ts';
import {own, setOwn, view} from './settings.svelte.ts';

const isShared = (): boolean => linkedStep.on || view.link;

export function selectedSteps(key: string, x: string): {step: number | null; end: number | null} {
  if (x !== 'step') return {step: null, end: null};
  if (isShared()) return {step: linkedStep.step, end: linkedStep.end};
  return {step: own(key).sel?.[0] ?? null, end: own(key).sel?.[1] ?? null};
}

export function selectSteps(key: string, step: number | null, end: number | null): void {
  if (isShared()) {
    linkedStep.step = step;
    linkedStep.end = end;
    linkedStep.on = step !== null;
  } else setOwn(key, {sel: step === null ? null : [step, end]});
}
