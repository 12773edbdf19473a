// Precision-recall curves of one tag: per run the curve at a step, and which steps it has.
import {client, numberOf, type AskOptions} from './client.ts';

export interface PrRun {
  readonly run: string;
  readonly id: number;
  readonly step: number;
  readonly wall: number;
  readonly steps: Float64Array;
  readonly thresholds: Float64Array;
  readonly precision: Float64Array;
  readonly recall: Float64Array;
  readonly tp: Float64Array;
  readonly fp: Float64Array;
  readonly tn: Float64Array;
  readonly fn: Float64Array;
}

type Wire = {readonly [K in keyof PrRun]: PrRun[K] extends Float64Array ? readonly (number | string)[] : PrRun[K]};

/** Each run at its newest step ≤ `step`; at its newest when `step` is null. */
export async function loadPrCurves(
  tag: string,
  runs: readonly string[],
  step: number | null,
  options: AskOptions = {},
): Promise<PrRun[]> {
  const query = new URLSearchParams(runs.map(run => ['run', run]));
  const answer = await client().get<{runs: readonly Wire[]}>(
    `pr_curves?${query}`,
    {tag, step: step ?? undefined},
    options,
  );
  return answer.runs.map(one => ({
    run: one.run,
    id: one.id,
    step: numberOf(one.step),
    wall: numberOf(one.wall),
    steps: numbers(one.steps),
    thresholds: numbers(one.thresholds),
    precision: numbers(one.precision),
    recall: numbers(one.recall),
    tp: numbers(one.tp),
    fp: numbers(one.fp),
    tn: numbers(one.tn),
    fn: numbers(one.fn),
  }));
}

function numbers(list: readonly (number | string)[]): Float64Array {
  return Float64Array.from(list, numberOf);
}
