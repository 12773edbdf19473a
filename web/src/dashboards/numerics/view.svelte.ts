// What the numerics page shows; kept in the link.
import {slice} from '../../state/view.svelte.ts';

export interface NumericsView {
  dump: string;
  beside: string; // another recording; 'ranks' for the other ranks of the job
  measure: 'rms' | 'zeros' | 'wrong' | 'saturated';
  order: 'wrong' | 'program' | 'module';
  alerts: string; // kind of alert, '' for all
  step: number; // tensors of this step only; -1 for all
  bad: boolean; // the list of tensors shows bad ones only
  graph: string; // the focused op
  op: string;
  execution: number; // or the focused execution
  frame: number; // of the stack: -1 = the user's innermost
}

export const view: NumericsView = slice<NumericsView>('numerics', {
  dump: '',
  beside: 'ranks',
  measure: 'rms',
  order: 'wrong',
  alerts: '',
  step: -1,
  bad: false,
  graph: '',
  op: '',
  execution: -1,
  frame: -1,
});

export function focusOp(graph: string, op: string): void {
  view.graph = graph;
  view.op = op;
  view.execution = -1;
  view.frame = -1;
}

export function focusExecution(index: number): void {
  view.execution = index;
  view.op = '';
  view.frame = -1;
}
