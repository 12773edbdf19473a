// Which captures belong to which run and which steps they hold: what the curves mark on their axis. Read only when
// someone asks, a few captures at most: a capture has to be parsed before its steps are known.
import {profileSessions, type ProfileSession} from '../data/profile.ts';
import {afterFirstPaint} from './first-paint.svelte.ts';
import {runs} from './runs.svelte.ts';

export interface CapturedStep {
  readonly session: string;
  readonly run: string;
  readonly name: string; // as recorded: "train 12", "ProfilerStep#12"
  readonly step: number | null; // its number
  readonly wall: number | null; // seconds since 1970
  readonly t0: number; // ps in the capture
  readonly t1: number;
}

/** The number a step's name ends with, null when there is none. */
export function stepNumber(name: string): number | null {
  const digits = /(\d+)\s*$/.exec(name)?.[1];
  return digits === undefined ? null : Number(digits);
}

/** The run a capture was taken in: sessions lie under the run's folder. */
export const isOfRun = (capture: string, run: string): boolean =>
  capture === run ||
  (run !== '' && run !== '.' && capture.startsWith(`${run}/`)) ||
  (capture !== '' && run.startsWith(`${capture}/`)) ||
  capture === '' ||
  capture === '.';

const MOST = 8;
const MOST_BYTES = 64e6; // larger captures are opened by hand

let steps = $state.raw<readonly CapturedStep[]>([]);
let asked = false;

async function stepsOf(session: ProfileSession): Promise<readonly CapturedStep[]> {
  const {traceSource} = await import('../data/trace.ts');
  const found = await traceSource(session.id, 0).steps();
  const wall = (ps: number): number | null => (found.start === null ? null : found.start + ps / 1e12);
  if (found.steps.length === 0)
    return [
      {
        session: session.id,
        run: session.run,
        name: session.name,
        step: null,
        wall: wall(found.t0),
        t0: found.t0,
        t1: found.t1,
      },
    ];
  return found.steps.map(step => ({
    session: session.id,
    run: session.run,
    name: step.name,
    step: stepNumber(step.name),
    wall: wall(step.begin),
    t0: step.begin,
    t1: step.end,
  }));
}

async function load(): Promise<void> {
  const newest = (await profileSessions())
    .filter(session => session.state !== 'digest' && session.bytes < MOST_BYTES)
    .slice(0, MOST);
  for (const session of newest) {
    const found = await stepsOf(session).catch(() => []);
    steps = [...steps, ...found];
  }
}

const ofShown = $derived(steps.filter(one => runs.shown.some(run => isOfRun(one.run, run.name))));
/** Captured steps of the runs that are shown. */
export function capturedShown(): readonly CapturedStep[] {
  void capturedSteps();
  return ofShown;
}

/** All captured steps known so far; the first call starts reading. */
export function capturedSteps(): readonly CapturedStep[] {
  if (!asked) {
    asked = true;
    void afterFirstPaint()
      .then(load)
      .catch(() => undefined);
  }
  return steps;
}
