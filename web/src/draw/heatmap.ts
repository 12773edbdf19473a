// Histograms over time as a heat map: x is time, y the value, colour the count (log by default), with
// quantile lines on top. Each column is as wide as the time it stands for.
import {mapIndex, mapTable} from './colour-map.ts';
import {type HistogramSeries, peak, quantile, rowTotal} from './histogram.ts';
import {unbroken} from './in-order.ts';
import type {ThemeColours} from './theme-colours.ts';
import {slotStyle} from './palette.ts';
import {
  atY,
  drawXAxis,
  drawYAxis,
  type Labels,
  type Plane,
  type Size,
  xOf,
  yMargin,
  yOf,
  drawStretch,
} from './plane.ts';

export interface HeatOptions {
  readonly colours: ThemeColours;
  readonly times: Float64Array; // rising
  readonly strands: readonly (readonly number[])[]; // see in-order.ts: the quantile lines of each
  readonly timeLabels: Labels;
  readonly wholeTimes: boolean; // times are steps
  readonly valueLabels: Labels;
  readonly density: boolean;
  readonly logColour: boolean;
  readonly quantiles: readonly number[]; // shares 0…1; the median is drawn solid
  readonly selected: number;
  readonly range?: readonly [number, number] | null; // linked steps by index
  readonly hover: {readonly step: number; readonly bin: number} | null;
}

export interface HeatLayout {
  readonly plane: Plane;
  /** n + 1 pixel borders between the columns. */
  readonly borders: Float64Array;
  readonly bins: number;
}

/** Borders half way between neighbouring rising times, so each column is as wide as the time it stands for. */
export function columnBorders(times: Float64Array): Float64Array {
  const n = times.length;
  const out = new Float64Array(n + 1);
  if (n === 0) return out;
  for (let i = 1; i < n; i++) out[i] = (times[i - 1]! + times[i]!) / 2;
  const first = n > 1 ? times[1]! - times[0]! : 1;
  const last = n > 1 ? times[n - 1]! - times[n - 2]! : 1;
  out[0] = times[0]! - (first || 1) / 2;
  out[n] = times[n - 1]! + (last || 1) / 2;
  return out;
}

/** 0…1 for a cell: its share of the largest, on a log scale on request. */
export function heatShare(cell: number, most: number, logColour: boolean): number {
  if (!(cell > 0) || !(most > 0)) return 0;
  return logColour ? Math.log1p((cell / most) * 60) / Math.log(61) : cell / most;
}

export function drawHeat(
  g: CanvasRenderingContext2D,
  size: Size,
  series: HistogramSeries,
  options: HeatOptions,
): HeatLayout {
  const {colours} = options;
  const bins = series.edges.length - 1;
  const n = series.steps.length;
  const bounds = columnBorders(options.times);
  const y0 = series.edges[0] ?? 0;
  const y1 = series.edges[bins] ?? 1;
  const left = yMargin(g, colours, y0, y1, size.height - 30, options.valueLabels);
  const plane: Plane = {
    left,
    right: size.width - 12,
    top: 8,
    bottom: size.height - 20,
    x0: bounds[0]!,
    x1: bounds[n]!,
    y0,
    y1,
  };
  const borders = bounds.map(t => xOf(plane, t));
  const table = mapTable('seq', colours.dark);
  const most = peak(series, options.density);
  for (let s = 0; s < n; s++) {
    const values = rowTotal(series, s);
    if (!(values > 0)) continue; // a hole, not a column of zeros
    const total = options.density ? values : 1;
    const x = Math.round(borders[s]!);
    const w = Math.max(1, Math.round(borders[s + 1]!) - x);
    for (let b = 0; b < bins; b++) {
      const i = mapIndex(heatShare(series.counts[s * bins + b]! / total, most, options.logColour)) * 3;
      g.fillStyle = `rgb(${table[i]} ${table[i + 1]} ${table[i + 2]})`;
      const top = Math.round(yOf(plane, series.edges[b + 1]!));
      g.fillRect(x, top, w, Math.round(yOf(plane, series.edges[b]!)) - top);
    }
  }
  drawQuantiles(g, plane, series, options);
  drawYAxis(g, plane, colours, options.valueLabels, false);
  drawXAxis(g, plane, colours, options.timeLabels, size.width, options.wholeTimes);
  if (options.range != null) drawStretch(g, plane, borders[options.range[0]]!, borders[options.range[1] + 1]!, colours);
  for (const [index, colour] of [
    [options.selected, colours.accent],
    [options.hover?.step ?? -1, colours.lineStrong],
  ] as const) {
    if (index < 0 || index >= n) continue;
    g.fillStyle = colour;
    g.fillRect(Math.round((borders[index]! + borders[index + 1]!) / 2), plane.top, 1, plane.bottom - plane.top);
  }
  if (options.hover) {
    const {step, bin} = options.hover;
    g.strokeStyle = colours.text;
    g.lineWidth = 1;
    const top = yOf(plane, series.edges[bin + 1]!);
    g.strokeRect(borders[step]!, top, borders[step + 1]! - borders[step]!, yOf(plane, series.edges[bin]!) - top);
  }
  return {plane, borders, bins};
}

function drawQuantiles(g: CanvasRenderingContext2D, plane: Plane, series: HistogramSeries, options: HeatOptions): void {
  g.strokeStyle = slotStyle(1, options.colours.dark).colour;
  for (const share of options.quantiles) {
    g.lineWidth = share === 0.5 ? 1.5 : 1;
    g.setLineDash(share === 0.5 ? [] : [3, 3]);
    g.beginPath();
    const values = Array.from(series.steps, (_, s) => quantile(series, s, share));
    for (const piece of options.strands.flatMap(strand => unbroken(strand, s => Number.isNaN(values[s]!)))) {
      piece.forEach((s, i) => g[i === 0 ? 'moveTo' : 'lineTo'](xOf(plane, options.times[s]!), yOf(plane, values[s]!)));
    }
    g.stroke();
  }
  g.setLineDash([]);
}

export function pickHeat(
  {plane, borders, bins}: HeatLayout,
  series: HistogramSeries,
  x: number,
  y: number,
): {step: number; bin: number} | null {
  if (x < plane.left || x > plane.right || y < plane.top || y > plane.bottom || borders.length < 2) return null;
  let step = 0;
  while (step < borders.length - 2 && x >= borders[step + 1]!) step++;
  const value = atY(plane, y);
  let bin = 0;
  while (bin < bins - 1 && value >= series.edges[bin + 1]!) bin++;
  return {step, bin};
}
