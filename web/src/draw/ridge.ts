// The offset histogram: one filled slice per step, the oldest at the back, the newest in front, placed
// along time. Picks the slice and bin under the pointer.
import {tableColour, mapTable} from './colour-map.ts';
import {type HistogramSeries, peak, rowTotal} from './histogram.ts';
import type {ThemeColours} from './theme-colours.ts';
import {drawXAxis, type Labels, type Plane, setFont, type Size, xOf} from './plane.ts';

export interface RidgeOptions {
  readonly colours: ThemeColours;
  /** Time of each step (step, relative or wall), rising; places the slices. */
  readonly times: Float64Array;
  readonly timeLabel: (time: number) => string;
  readonly valueLabels: Labels;
  /** Heights are shares of their step instead of counts. */
  readonly density: boolean;
  readonly selected: number; // index of the linked step, -1 for none
  readonly range?: readonly [number, number] | null; // linked steps by index: the others are grey
  readonly hover: {readonly step: number; readonly bin: number} | null;
}

export interface RidgeLayout {
  readonly plane: Plane;
  readonly baselines: Float64Array;
  readonly heights: Float32Array; // of every cell, in pixels
}

const SLICE_PX = 62;

export function layoutRidge(
  series: HistogramSeries,
  size: Size,
  times: Float64Array,
  density: boolean,
  rightPx: number,
): RidgeLayout {
  const bins = series.edges.length - 1;
  const n = series.steps.length;
  const slice = Math.min(SLICE_PX, (size.height - 40) / 2.5);
  const plane: Plane = {
    left: 12,
    right: Math.max(40, size.width - rightPx),
    top: slice + 8,
    bottom: size.height - 20,
    x0: series.edges[0] ?? 0,
    x1: series.edges[bins] ?? 1,
    y0: 0,
    y1: 1,
  };
  const baselines = new Float64Array(n);
  const first = times[0] ?? 0;
  const span = (times[n - 1] ?? 0) - first;
  const deep = plane.bottom - 5;
  for (let s = 0; s < n; s++) {
    const share = span > 0 ? (times[s]! - first) / span : n > 1 ? s / (n - 1) : 1;
    baselines[s] = plane.top + (deep - plane.top) * share;
  }
  const heights = new Float32Array(n * bins);
  const most = peak(series, density);
  for (let s = 0; s < n; s++) {
    const unit = slice / ((density ? rowTotal(series, s) : 1) * most);
    for (let b = 0; b < bins; b++) {
      const c = series.counts[s * bins + b]!;
      heights[s * bins + b] = c > 0 && Number.isFinite(unit) ? c * unit : 0;
    }
  }
  return {plane, baselines, heights};
}

export function drawRidge(
  g: CanvasRenderingContext2D,
  size: Size,
  series: HistogramSeries,
  options: RidgeOptions,
): RidgeLayout {
  const {colours, times, selected, hover} = options;
  const n = series.steps.length;
  const bins = series.edges.length - 1;
  setFont(g, colours, 600);
  const widest = Math.max(...[0, n - 1].map(s => g.measureText(options.timeLabel(times[s] ?? 0)).width));
  const layout = layoutRidge(series, size, times, options.density, Math.max(34, Math.ceil(widest) + 14));
  const {plane, baselines, heights} = layout;
  const table = mapTable('seq', colours.dark);
  const centre = (b: number): number => xOf(plane, (series.edges[b]! + series.edges[b + 1]!) / 2);
  for (let s = 0; s < n; s++) {
    if (!(rowTotal(series, s) > 0)) continue; // no values: no slice
    const y0 = baselines[s]!;
    const trace = (): void => {
      for (let b = 0; b < bins; b++) g.lineTo(centre(b), y0 - heights[s * bins + b]!);
    };
    const hot = s === selected || s === hover?.step;
    const share = n > 1 ? s / (n - 1) : 1;
    const grey = !hot && options.range != null && (s < options.range[0] || s > options.range[1]);
    g.beginPath();
    g.moveTo(plane.left, y0);
    trace();
    g.lineTo(plane.right, y0);
    g.fillStyle = hot
      ? colours.accent
      : grey
        ? colours.line
        : tableColour(table, colours.dark ? 0.3 + 0.45 * share : 0.36 + 0.4 * share);
    g.globalAlpha = grey ? 0.45 : hot ? 0.92 : colours.dark ? 0.82 : 0.86;
    g.fill();
    g.globalAlpha = 1;
    g.beginPath();
    trace();
    g.strokeStyle = colours.surface;
    g.lineWidth = 1;
    g.stroke();
  }
  drawTimes(g, layout, options, n);
  drawXAxis(g, plane, colours, options.valueLabels, size.width);
  if (hover) {
    const x = centre(hover.bin);
    const y = baselines[hover.step]! - heights[hover.step * bins + hover.bin]!;
    g.fillStyle = colours.lineStrong;
    g.fillRect(Math.round(x), plane.bottom - 3, 1, 6);
    g.beginPath();
    g.arc(x, y, 3.5, 0, 7);
    g.fillStyle = colours.text;
    g.fill();
    g.strokeStyle = colours.surface;
    g.stroke();
  }
  return layout;
}

function drawTimes(
  g: CanvasRenderingContext2D,
  {plane, baselines}: RidgeLayout,
  options: RidgeOptions,
  n: number,
): void {
  const {colours, times, selected, hover} = options;
  const hot = hover?.step ?? selected;
  g.textAlign = 'left';
  g.textBaseline = 'middle';
  let free = -Infinity;
  const clear = hot >= 0 ? baselines[hot]! : NaN;
  for (let s = 0; s < n; s++) {
    const y = baselines[s]!;
    const isLast = s === n - 1;
    if (s !== hot && (Math.abs(y - clear) < 13 || (y < free + 36 && !isLast) || (isLast && y < free + 13))) continue;
    g.fillStyle = s === hot ? colours.accent : colours.text3;
    setFont(g, colours, s === hot ? 600 : 400);
    g.fillText(options.timeLabel(times[s]!), plane.right + 6, y);
    if (s !== hot) free = y;
  }
}

/** The frontmost slice under a point and the bin there; the slice with the nearest base line otherwise. */
export function pickRidge(layout: RidgeLayout, x: number, y: number): {step: number; bin: number} | null {
  const {plane, baselines, heights} = layout;
  const n = baselines.length;
  const bins = n > 0 ? heights.length / n : 0;
  if (bins === 0 || x < plane.left - 4 || x > plane.right + 40) return null;
  const bin = Math.max(0, Math.min(bins - 1, Math.floor(((x - plane.left) / (plane.right - plane.left)) * bins)));
  for (let s = n - 1; s >= 0; s--) {
    const base = baselines[s]!;
    if (y <= base && y >= base - Math.max(heights[s * bins + bin]!, 1)) return {step: s, bin};
  }
  let best = -1;
  let distance = 40;
  for (let s = 0; s < n; s++) {
    const d = Math.abs(y - baselines[s]!);
    if (d <= distance) [best, distance] = [s, d];
  }
  return best < 0 ? null : {step: best, bin};
}
