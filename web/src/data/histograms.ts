// Histograms of one (run, tag) over its steps, cut into equal bins by the server.
import type {HistogramSeries} from '../draw/histogram.ts';
import {client, type AskOptions} from './client.ts';
import type {Columns} from './columns.ts';

export interface HistogramAnswer extends HistogramSeries {
  readonly total: number; // steps there are; more than `steps` holds when thinned for display
}

export interface HistogramQuestion {
  readonly run: string;
  readonly tag: string;
  readonly steps: number;
  readonly bins: number;
  readonly range?: readonly [number, number] | null;
}

export async function loadHistograms(question: HistogramQuestion, options: AskOptions = {}): Promise<HistogramAnswer> {
  return decodeHistograms(await client().columns('histograms', {range: null, ...question}, options));
}

const MOST_STEPS = 5000; // of one answer, as the server has it

/** Every step, none thinned out, in as many answers as that takes; the edges of bins differ between answers. */
export async function loadEvery(
  question: Omit<HistogramQuestion, 'steps'>,
  options: AskOptions = {},
): Promise<HistogramAnswer[]> {
  const answer = await loadHistograms({...question, steps: MOST_STEPS}, options);
  const middle = answer.total > MOST_STEPS ? middleOf(answer.steps) : null;
  if (middle === null) return [answer];
  const [from, to] = question.range ?? [-Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER];
  return [
    ...(await loadEvery({...question, range: [from, middle]}, options)),
    ...(await loadEvery({...question, range: [middle + 1, to]}, options)),
  ];
}

/** A step that about half of the steps are not above, and some are; null when all are equal. */
export function middleOf(steps: Float64Array): number | null {
  const sorted = steps.slice().sort();
  const last = sorted[sorted.length - 1];
  for (let i = sorted.length >> 1; i >= 0; i--) if (sorted[i]! < last!) return sorted[i]!;
  return null;
}

export function decodeHistograms(columns: Columns): HistogramAnswer {
  const f64 = (name: string): Float64Array => {
    const column = columns.col(name);
    if (column instanceof Float64Array) return column;
    return column === undefined ? new Float64Array() : Float64Array.from(column as Iterable<number>);
  };
  const f32 = (name: string): Float32Array => {
    const column = columns.col(name);
    if (column instanceof Float32Array) return column;
    return column === undefined ? new Float32Array() : Float32Array.from(column as Iterable<number>);
  };
  const steps = f64('step');
  return {
    steps,
    walls: f64('wall'),
    edges: f64('edges'),
    counts: f32('count'),
    percentiles: f32('pct'),
    stats: f64('stats'),
    total: Number(columns.head['total'] ?? steps.length),
  };
}
