// Parallel coordinates: one line a row across all axes, painted in slices so that ten thousand lines
// never block a frame. A row without a value runs along a rail under the axis.
import type {ThemeColours} from './theme-colours.ts';
import {createRaster, type Raster} from './line-raster.ts';
import {enqueue} from './paint-queue.ts';
import {channels} from './palette.ts';
import type {Size} from './plane.ts';

export interface ParallelAxis {
  readonly at: Float64Array; // 0…1 by row, NaN = no place
  readonly holes: boolean; // whether some have none
  readonly ticks: readonly {readonly p: number; readonly label: string}[];
}

export interface ParallelLayout {
  readonly x: readonly number[]; // of the axes
  readonly top: number;
  readonly bottom: number;
  readonly rail: number; // y of rows without a value; NaN when every row has all
}

const CURVE = 0.38; // control points, as a share of the gap

export function layoutParallel(size: Size, axes: readonly ParallelAxis[]): ParallelLayout {
  const holes = axes.some(axis => axis.holes);
  const [left, right] = [64, size.width - 48];
  const bottom = size.height - (holes ? 34 : 14);
  const n = axes.length;
  return {
    x: axes.map((_, i) => (n < 2 ? (left + right) / 2 : left + (i / (n - 1)) * (right - left))),
    top: 12,
    bottom,
    rail: holes ? size.height - 12 : NaN,
  };
}

export function yAt(layout: ParallelLayout, p: number): number {
  return p === p ? layout.bottom - p * (layout.bottom - layout.top) : layout.rail;
}

function trace(g: CanvasRenderingContext2D, layout: ParallelLayout, axes: readonly ParallelAxis[], row: number): void {
  let [px, py] = [layout.x[0]!, yAt(layout, axes[0]!.at[row]!)];
  g.moveTo(px, py);
  for (let i = 1; i < axes.length; i++) {
    const x = layout.x[i]!;
    const y = yAt(layout, axes[i]!.at[row]!);
    const m = (x - px) * CURVE;
    g.bezierCurveTo(px + m, py, x - m, y, x, y);
    [px, py] = [x, y];
  }
}

interface LineStyle {
  readonly width: number;
  readonly alpha: number;
  colour(row: number): string;
}
const MANY = 600; // from here on lines are pixels

/** Paints the rows one after the other, a few milliseconds a frame, instead of what is there; calls `done` at the end. */
export function paintLines(
  g: CanvasRenderingContext2D,
  layout: ParallelLayout,
  axes: readonly ParallelAxis[],
  rows: ArrayLike<number>,
  style: LineStyle,
  done: () => void,
): () => void {
  let next = 0;
  if (axes.length >= 2 && rows.length > MANY) return paintMany(g, layout, axes, rows, style, done);
  g.clearRect(0, 0, g.canvas.width, g.canvas.height);
  if (axes.length < 2 || rows.length === 0) {
    done();
    return () => {};
  }
  return enqueue(() => {
    g.lineWidth = style.width;
    g.globalAlpha = style.alpha;
    const end = Math.min(rows.length, next + 40);
    for (; next < end; next++) {
      const row = rows[next]!;
      g.strokeStyle = style.colour(row);
      g.beginPath();
      trace(g, layout, axes, row);
      g.stroke();
    }
    g.globalAlpha = 1;
    if (next < rows.length) return false;
    done();
    return true;
  });
}

function paintMany(
  g: CanvasRenderingContext2D,
  layout: ParallelLayout,
  axes: readonly ParallelAxis[],
  rows: ArrayLike<number>,
  style: LineStyle,
  done: () => void,
): () => void {
  const ratio = g.getTransform().a;
  let raster: Raster | undefined;
  const y = new Float64Array(axes.length);
  const styles = new Map<string, [number, number, number]>();
  let next = 0;
  const slice = (): boolean => {
    raster ??= createRaster(
      g.canvas.width,
      g.canvas.height,
      layout.x.map(x => x * ratio),
      style.width * ratio,
      bend,
    );
    const end = Math.min(rows.length, next + 60);
    for (; next < end; next++) {
      const row = rows[next]!;
      for (let i = 0; i < axes.length; i++) y[i] = yAt(layout, axes[i]!.at[row]!) * ratio;
      const colour = style.colour(row);
      let colours = styles.get(colour);
      if (colours === undefined) styles.set(colour, (colours = channels(colour)));
      raster.line(y, colours, style.alpha);
    }
    if (next % 3000 < 60 && next < rows.length && next > 60) raster.blit(g);
    if (next < rows.length) return false;
    raster.blit(g);
    done();
    return true;
  };
  // One frame later: the table, which is quick, is on the screen before the lines take their time. Until the
  // first of them are done the picture before stays, so nothing flickers.
  let stop = (): void => {};
  const frame = requestAnimationFrame(() => void (stop = enqueue(slice)));
  return () => {
    cancelAnimationFrame(frame);
    stop();
  };
}

/** The emphasised row: accent over a halo of the surface. */
export function paintHot(
  g: CanvasRenderingContext2D,
  layout: ParallelLayout,
  axes: readonly ParallelAxis[],
  row: number,
  colours: ThemeColours,
): void {
  if (axes.length < 2) return;
  for (const [colour, width] of [
    [colours.surface, 5],
    [colours.accent, 2.5],
  ] as const) {
    g.strokeStyle = colour;
    g.lineWidth = width;
    g.beginPath();
    trace(g, layout, axes, row);
    g.stroke();
  }
}

export interface Brush {
  readonly axis: number;
  readonly from: number; // 0…1
  readonly to: number;
}

export function paintAxes(
  g: CanvasRenderingContext2D,
  layout: ParallelLayout,
  axes: readonly ParallelAxis[],
  brushes: readonly Brush[],
  colours: ThemeColours,
  none: string,
): void {
  g.font = `400 10.5px ${colours.font}`;
  g.textBaseline = 'middle';
  axes.forEach((axis, i) => {
    const x = Math.round(layout.x[i]!) + 0.5;
    const brushed = brushes.some(brush => brush.axis === i);
    g.strokeStyle = colours.axis;
    g.lineWidth = 1;
    g.beginPath();
    g.moveTo(x, layout.top - 4);
    g.lineTo(x, layout.bottom + 4);
    g.stroke();
    const plate = (text: string, y: number): void => {
      const width = g.measureText(text).width;
      g.textAlign = 'right';
      g.globalAlpha = 0.82;
      g.fillStyle = colours.surface;
      g.fillRect(x - (brushed ? 11.5 : 8) - width, y - 7, width + 3, 14);
      g.globalAlpha = 1;
      g.fillStyle = colours.text2;
      g.fillText(text, x - (brushed ? 10 : 6.5), y);
    };
    let lastY = Infinity;
    for (const tick of [...axis.ticks].sort((a, b) => a.p - b.p)) {
      const y = yAt(layout, tick.p);
      if (lastY - y < 13) continue;
      lastY = y;
      g.beginPath();
      g.moveTo(x - 4, y);
      g.lineTo(x, y);
      g.stroke();
      plate(tick.label, y);
    }
    if (axis.holes) {
      g.beginPath();
      g.moveTo(x - 4, layout.rail);
      g.lineTo(x + 4, layout.rail);
      g.stroke();
      plate(none, layout.rail);
    }
  });
  for (const brush of brushes) {
    const x = Math.round(layout.x[brush.axis]!) + 0.5;
    const [a, b] = [yAt(layout, Math.max(brush.from, brush.to)), yAt(layout, Math.min(brush.from, brush.to))];
    g.fillStyle = colours.select;
    g.strokeStyle = colours.accent;
    g.lineWidth = 1;
    g.beginPath();
    g.roundRect(x - 7, a, 14, Math.max(3, b - a), 3);
    g.fill();
    g.stroke();
  }
}

/** The row whose line passes closest to a point, within 10 px; −1 when none does. */
export function pickRow(
  layout: ParallelLayout,
  axes: readonly ParallelAxis[],
  rows: ArrayLike<number>,
  x: number,
  y: number,
): number {
  const n = axes.length;
  if (n < 2 || x < layout.x[0]! - 8 || x > layout.x[n - 1]! + 8) return -1;
  let k = 0;
  while (k < n - 2 && x > layout.x[k + 1]!) k++;
  const share = Math.max(0, Math.min(1, (x - layout.x[k]!) / (layout.x[k + 1]! - layout.x[k]!)));
  const s = bend(share);
  const [a, b] = [axes[k]!.at, axes[k + 1]!.at];
  let best = -1;
  let distance = 10;
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i]!;
    const d = Math.abs(yAt(layout, a[row]!) * (1 - s) + yAt(layout, b[row]!) * s - y);
    if (d < distance) [best, distance] = [row, d];
  }
  return best;
}

/** How far up a curve is (0…1) at a share of the way between two axes. */
function bend(share: number): number {
  let [lo, hi] = [0, 1];
  for (let i = 0; i < 20; i++) {
    const t = (lo + hi) / 2;
    const x = 3 * (1 - t) * (1 - t) * t * CURVE + 3 * (1 - t) * t * t * (1 - CURVE) + t * t * t;
    if (x < share) lo = t;
    else hi = t;
  }
  const t = (lo + hi) / 2;
  return t * t * (3 - 2 * t);
}
