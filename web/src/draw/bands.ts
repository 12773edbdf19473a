// Distributions over time: filled bands between the nine percentiles, darker towards the median, and the
// median as a line. Several runs share one plane, each in its own colour. Steps without values are gaps.
import {BASIS_POINTS} from './histogram.ts';
import {unbroken} from './in-order.ts';
import type {ThemeColours} from './theme-colours.ts';
import {nearestIndex, nearestRun} from './nearest.ts';
import {
  atX,
  drawCrosshair,
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

export interface BandSeries {
  readonly colour: string;
  readonly times: Float64Array; // rising
  readonly percentiles: Float32Array; // nine per time; NaN where a step has no values
  readonly strands: readonly (readonly number[])[]; // see in-order.ts
}

export interface BandOptions {
  readonly colours: ThemeColours;
  readonly timeLabels: Labels;
  readonly wholeTimes: boolean; // times are steps
  readonly valueLabels: Labels;
  readonly selected: number | null; // a time
  readonly range?: readonly [number, number] | null; // linked times
  readonly hover: number | null; // a time
}

const NINE = BASIS_POINTS.length;
/** Opacity of the bands from the outermost pair to the innermost, as shares of the token's. */
const STRENGTH = [0.5, 0.9, 1.4, 2];

export function bandRange(all: readonly BandSeries[]): {x0: number; x1: number; y0: number; y1: number} {
  let [x0, x1, y0, y1] = [Infinity, -Infinity, Infinity, -Infinity];
  for (const {times, percentiles} of all) {
    for (const t of times) [x0, x1] = [Math.min(x0, t), Math.max(x1, t)];
    for (const v of percentiles) if (Number.isFinite(v)) [y0, y1] = [Math.min(y0, v), Math.max(y1, v)];
  }
  if (x0 > x1) [x0, x1] = [0, 1];
  if (y0 > y1) [y0, y1] = [0, 1];
  if (x0 === x1) [x0, x1] = [x0 - 0.5, x1 + 0.5];
  const room = y1 > y0 ? (y1 - y0) * 0.04 : Math.abs(y0) * 0.1 || 1;
  return {x0, x1, y0: y0 - room, y1: y1 + room};
}

export function drawBands(
  g: CanvasRenderingContext2D,
  size: Size,
  all: readonly BandSeries[],
  options: BandOptions,
): Plane {
  const {colours} = options;
  const range = bandRange(all);
  const left = yMargin(g, colours, range.y0, range.y1, size.height - 26, options.valueLabels);
  const plane: Plane = {left, right: size.width - 10, top: 6, bottom: size.height - 20, ...range};
  drawYAxis(g, plane, colours, options.valueLabels);
  for (const one of all) drawOne(g, plane, one, colours);
  drawXAxis(g, plane, colours, options.timeLabels, size.width, options.wholeTimes);
  if (options.range != null) drawStretch(g, plane, xOf(plane, options.range[0]), xOf(plane, options.range[1]), colours);
  if (options.selected !== null) drawCrosshair(g, plane, options.selected, colours.accent);
  if (options.hover !== null) {
    drawCrosshair(g, plane, options.hover, colours.lineStrong);
    for (const one of all) drawDots(g, plane, one, options.hover, colours);
  }
  return plane;
}

/** What is drawn in one piece: steps of one strand, none of them without values. */
export function bandPieces({percentiles, strands}: BandSeries): number[][] {
  return strands.flatMap(strand => unbroken(strand, i => Number.isNaN(percentiles[i * NINE + 4]!)));
}

function drawOne(g: CanvasRenderingContext2D, plane: Plane, series: BandSeries, colours: ThemeColours): void {
  for (const piece of bandPieces(series)) drawPiece(g, plane, series, piece, colours);
}

function drawPiece(
  g: CanvasRenderingContext2D,
  plane: Plane,
  {times, percentiles, colour}: BandSeries,
  piece: readonly number[],
  colours: ThemeColours,
): void {
  const line = (indices: readonly number[], k: number): void => {
    for (const i of indices) g.lineTo(xOf(plane, times[i]!), yOf(plane, percentiles[i * NINE + k]!));
  };
  const back = [...piece].reverse();
  g.fillStyle = colour;
  g.strokeStyle = colour;
  for (let pair = 0; pair < 4; pair++) {
    g.globalAlpha = Math.min(0.85, colours.band * STRENGTH[pair]!);
    g.beginPath();
    line(piece, NINE - 1 - pair);
    line(back, pair);
    g.closePath();
    g.fill();
  }
  g.globalAlpha = 1;
  g.lineWidth = 1.75;
  g.beginPath();
  line(piece, 4);
  g.stroke();
  if (piece.length === 1) {
    // A single step has no area: its percentiles are ticks.
    const i = piece[0]!;
    const x = Math.max(plane.left, Math.min(plane.right - 12, xOf(plane, times[i]!) - 6));
    for (let k = 0; k < NINE; k++)
      g.fillRect(x, Math.round(yOf(plane, percentiles[i * NINE + k]!)), 12, k === 4 ? 2 : 1);
  }
}

function drawDots(
  g: CanvasRenderingContext2D,
  plane: Plane,
  {times, percentiles, colour}: BandSeries,
  at: number,
  colours: ThemeColours,
): void {
  const [first, end] = nearestRun(times, at);
  for (let at = first * NINE; at < end * NINE; at++) {
    if (Number.isNaN(percentiles[at]!)) continue;
    g.beginPath();
    g.arc(xOf(plane, times[first]!), yOf(plane, percentiles[at]!), at % NINE === 4 ? 3.5 : 2, 0, 7);
    g.fillStyle = colour;
    g.fill();
    g.strokeStyle = colours.surface;
    g.lineWidth = 1;
    g.stroke();
  }
}

/** The time of the nearest step of any series to a pixel; null outside the plot. */
export function pickBands(plane: Plane, all: readonly BandSeries[], x: number, y: number): number | null {
  if (x < plane.left - 6 || x > plane.right + 6 || y < plane.top || y > plane.bottom + 20) return null;
  const at = atX(plane, x);
  let best: number | null = null;
  for (const {times} of all) {
    const i = nearestIndex(times, at);
    if (i >= 0 && (best === null || Math.abs(times[i]! - at) < Math.abs(best - at))) best = times[i]!;
  }
  return best;
}
