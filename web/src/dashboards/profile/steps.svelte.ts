// Steps of the capture under the bars of a page, and the choice of some of them as all that the pages are about.
import type {TraceSteps} from '../../data/trace.ts';
import {t} from '../../text/messages.ts';
import {openTrace, view} from './view.svelte.ts';

type Marks = TraceSteps | null;

/** The steps a page's bars stand for: all, or those of the part in view. */
export function stepsInView(marks: Marks): TraceSteps['steps'] {
  const [all, only] = [marks?.steps ?? [], view.only];
  return only === null ? all : all.filter(step => step.end > only.begin && step.begin < only.end);
}

export function openStep(marks: Marks, index: number): void {
  const step = stepsInView(marks)[index];
  if (step !== undefined) openTrace(step.begin, step.end);
}

/** Only these steps, on every page. */
export function chooseSteps(marks: Marks, first: number, last: number): void {
  const steps = stepsInView(marks);
  const [from, to] = [steps[first], steps[last]];
  if (from === undefined || to === undefined) return;
  view.only = {
    begin: Math.floor(from.begin),
    end: Math.ceil(to.end),
    text: t('profile.only.steps', {first: from.name, last: to.name}),
  };
}
