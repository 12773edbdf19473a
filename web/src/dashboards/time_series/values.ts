// Numbers of the table under a chart: at one step, or over a range. Definitions: Min, Max, Start, End
// and Δ use the smoothed values (what the line shows); Mean and ΔRaw the raw ones; NaN is left out and
// counted.
import type {ChartSeries} from '../../draw/chart-model.ts';
import {nearestIndex} from '../../draw/nearest.ts';

export interface StepRow {
  readonly series: ChartSeries;
  readonly smoothed: number;
  readonly value: number;
  readonly step: number;
  readonly relative: number;
}

export interface RangeRow {
  readonly series: ChartSeries;
  readonly min: number;
  readonly max: number;
  readonly start: number;
  readonly end: number;
  readonly delta: number;
  readonly percent: number;
  readonly startStep: number;
  readonly endStep: number;
  readonly stepAtMax: number;
  readonly stepAtMin: number;
  readonly mean: number;
  readonly deltaRaw: number;
  readonly skipped: number; // NaN and infinities in the range
}

export function stepRow(series: ChartSeries, step: number): StepRow | null {
  const i = nearestIndex(series.x, step);
  if (i < 0) return null;
  return {
    series,
    smoothed: series.y[i]!,
    value: (series.raw ?? series.y)[i]!,
    step: series.x[i]!,
    relative: series.wall === undefined ? NaN : series.wall[i]! - series.first,
  };
}

export function rangeRow(series: ChartSeries, from: number, to: number): RangeRow | null {
  const a = nearestIndex(series.x, from);
  const b = nearestIndex(series.x, to);
  if (a < 0 || b < a) return null;
  if (series.x[b]! < from || series.x[a]! > to) return null; // the nearest points lie outside: nothing happened in the range
  const raw = series.raw ?? series.y;
  let [min, max, stepAtMin, stepAtMax, sum, n, skipped] = [Infinity, -Infinity, NaN, NaN, 0, 0, 0];
  for (let i = a; i <= b; i++) {
    const v = series.y[i]!;
    if (!Number.isFinite(v)) {
      skipped++;
      continue;
    }
    if (v < min) [min, stepAtMin] = [v, series.x[i]!];
    if (v > max) [max, stepAtMax] = [v, series.x[i]!];
    if (Number.isFinite(raw[i]!)) {
      sum += raw[i]!;
      n++;
    }
  }
  const [start, end] = [series.y[a]!, series.y[b]!];
  return {
    series,
    min: n > 0 ? min : NaN,
    max: n > 0 ? max : NaN,
    start,
    end,
    delta: end - start,
    percent: (end - start) / start,
    startStep: series.x[a]!,
    endStep: series.x[b]!,
    stepAtMax,
    stepAtMin,
    mean: sum / n,
    deltaRaw: raw[b]! - raw[a]!,
    skipped,
  };
}
