// Which runs have a recording of numerics, so that a curve's NaN or jump can lead to the tensors of that step.
import {numericsDumps, type NumericsDump} from '../data/numerics.ts';
import {isOfRun} from './captures.svelte.ts';
import {afterFirstPaint} from './first-paint.svelte.ts';
import {navigate, tab} from './view.svelte.ts';

let dumps = $state.raw<readonly NumericsDump[]>([]);
let asked = false;

/** The recording made in a run's folder; undefined while none is known. The first call starts looking. */
export function recordingOf(run: string): NumericsDump | undefined {
  if (!asked) {
    asked = true;
    void afterFirstPaint()
      .then(async () => (dumps = (await numericsDumps()).filter(dump => dump.framework !== 'tensorflow')))
      .catch(() => undefined);
  }
  return dumps.find(dump => dump.name === run) ?? dumps.find(dump => isOfRun(dump.name, run));
}

/** The page Numerics with the tensors of one step. */
export function openNumerics(dump: string, step: number): void {
  navigate('numerics', {dump, step, graph: '', op: '', execution: -1});
  tab.go('numerics');
}
