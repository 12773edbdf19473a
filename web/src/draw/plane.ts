// The plain rectangular plot that histograms, bands and curves share: a canvas at device resolution,
// ticks, axes. Labels are made by the caller, so that this file knows no number format.

import type {ThemeColours} from './theme-colours.ts';

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** Pixels of a plot and the values at its edges. */
export interface Plane {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
  readonly x0: number;
  readonly x1: number;
  readonly y0: number;
  readonly y1: number;
}

export const xOf = (p: Plane, x: number): number => p.left + ((x - p.x0) / (p.x1 - p.x0 || 1)) * (p.right - p.left);
export const yOf = (p: Plane, y: number): number => p.bottom - ((y - p.y0) / (p.y1 - p.y0 || 1)) * (p.bottom - p.top);
export const atX = (p: Plane, px: number): number => p.x0 + ((px - p.left) / (p.right - p.left || 1)) * (p.x1 - p.x0);
export const atY = (p: Plane, py: number): number => p.y0 + ((p.bottom - py) / (p.bottom - p.top || 1)) * (p.y1 - p.y0);

/** Makes the canvas `size` CSS pixels large at device resolution and gives a cleared context, or one that keeps its picture. */
export function openCanvas(
  canvas: HTMLCanvasElement,
  size: Size,
  picture: 'clear' | 'keep' = 'clear',
): CanvasRenderingContext2D {
  const ratio = Math.max(1, globalThis.devicePixelRatio || 1);
  const width = Math.round(size.width * ratio);
  const height = Math.round(size.height * ratio);
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
  const g = canvas.getContext('2d');
  if (g === null) throw new Error('2d canvas is not available');
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  if (picture === 'clear') g.clearRect(0, 0, size.width, size.height);
  g.globalAlpha = 1;
  g.setLineDash([]);
  g.lineJoin = 'round';
  return g;
}

/** About `count` round values (steps of 1, 2, 5 × 10ⁿ) inside lo…hi. */
export function roundTicks(lo: number, hi: number, count: number): number[] {
  const span = hi - lo;
  if (!(span > 0) || !Number.isFinite(span)) return Number.isFinite(lo) ? [lo] : [];
  const raw = span / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map(f => f * power).find(s => s >= raw * 0.999) ?? 10 * power;
  const out: number[] = [];
  const first = Math.ceil(lo / step - 1e-9);
  if (!Number.isSafeInteger(first)) return [lo]; // a range that is nothing but rounding
  for (let i = first; i * step <= hi + step * 1e-9; i++) out.push(i * step + 0); // + 0: never −0
  return out;
}

export function setFont(g: CanvasRenderingContext2D, colours: ThemeColours, weight = 400): void {
  g.font = `${weight} 10.5px ${colours.font}`;
}

export type Labels = (ticks: readonly number[]) => (value: number) => string;

/** Axis line, ticks and labels under the plot; the outermost labels are kept inside it. */
export function drawXAxis(
  g: CanvasRenderingContext2D,
  p: Plane,
  colours: ThemeColours,
  labels: Labels,
  width: number,
  whole = false, // of steps: there is no step 0.5
): void {
  const round = roundTicks(p.x0, p.x1, Math.max(2, Math.floor((p.right - p.left) / 64)));
  const integers = whole ? round.filter(Number.isInteger) : [];
  const ticks = integers.length > 1 ? integers : round;
  const label = labels(ticks);
  g.fillStyle = colours.axis;
  g.fillRect(p.left, Math.round(p.bottom), p.right - p.left, 1);
  setFont(g, colours);
  g.textAlign = 'center';
  g.textBaseline = 'top';
  for (const tick of ticks) {
    const x = Math.round(xOf(p, tick));
    g.fillStyle = colours.axis;
    g.fillRect(x, Math.round(p.bottom), 1, 4);
    g.fillStyle = colours.text3;
    const text = label(tick);
    const half = g.measureText(text).width / 2;
    g.fillText(text, Math.min(width - half - 2, Math.max(half + 2, x)), p.bottom + 6);
  }
}

/** Horizontal grid lines with labels at the left. */
export function drawYAxis(
  g: CanvasRenderingContext2D,
  p: Plane,
  colours: ThemeColours,
  labels: Labels,
  grid = true,
): void {
  const ticks = roundTicks(p.y0, p.y1, Math.max(2, Math.floor((p.bottom - p.top) / 40)));
  const label = labels(ticks);
  setFont(g, colours);
  g.textAlign = 'right';
  g.textBaseline = 'middle';
  for (const tick of ticks) {
    const y = Math.round(yOf(p, tick));
    if (grid) {
      g.fillStyle = tick === 0 ? colours.line : colours.grid;
      g.fillRect(p.left, y, p.right - p.left, 1);
    }
    g.fillStyle = colours.text3;
    g.fillText(label(tick), p.left - 6, Math.max(p.top + 5, Math.min(p.bottom - 4, y)));
  }
}

/** Room for the widest y label: its width + 12. */
export function yMargin(
  g: CanvasRenderingContext2D,
  colours: ThemeColours,
  y0: number,
  y1: number,
  heightPx: number,
  labels: Labels,
): number {
  const ticks = roundTicks(y0, y1, Math.max(2, Math.floor(heightPx / 40)));
  const label = labels(ticks);
  setFont(g, colours);
  return Math.ceil(Math.max(12, ...ticks.map(t => g.measureText(label(t)).width)) + 12);
}

/** A vertical 1 px line on a pixel. */
/** A chosen stretch in px: what lies outside fades, its ends are marked. */
export function drawStretch(
  g: CanvasRenderingContext2D,
  p: Plane,
  from: number,
  to: number,
  colours: ThemeColours,
): void {
  const [a, b] = [Math.max(p.left, Math.min(from, to)), Math.min(p.right, Math.max(from, to))];
  g.globalAlpha = 0.6;
  g.fillStyle = colours.surface;
  g.fillRect(p.left, p.top, a - p.left, p.bottom - p.top);
  g.fillRect(b, p.top, p.right - b, p.bottom - p.top);
  g.globalAlpha = 1;
  g.fillStyle = colours.accent;
  for (const x of [a, b]) g.fillRect(Math.round(x), p.top, 1, p.bottom - p.top);
}

export function drawCrosshair(g: CanvasRenderingContext2D, p: Plane, x: number, colour: string): void {
  g.fillStyle = colour;
  g.fillRect(Math.round(xOf(p, x)), p.top, 1, p.bottom - p.top);
}
