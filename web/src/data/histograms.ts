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
    steps, walls: f64('wall'), edges: f64('edges'), counts: f32('count'), percentiles: f32('pct'), stats: f64('stats'),
    total: Number(columns.head['total'] ?? steps.length),
  };
}
