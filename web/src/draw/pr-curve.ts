// Precision over recall: curves of several runs in the unit square (or a zoomed part of it), the area
// under a curve as average precision, and the point nearest to the pointer.
import type {ThemeColours} from './theme-colours.ts';
import {drawXAxis, drawYAxis, type Labels, type Plane, type Size, xOf, yMargin, yOf} from './plane.ts';

export interface PrCurve {
  readonly colour: string;
  readonly dash: readonly number[];
  readonly thresholds: ArrayLike<number>;
  readonly precision: ArrayLike<number>;
  readonly recall: ArrayLike<number>;
}

export interface PrOptions {
  readonly colours: ThemeColours;
  readonly labels: Labels;
  readonly range: {readonly x0: number; readonly x1: number; readonly y0: number; readonly y1: number};
  readonly hover: {readonly curve: number; readonly index: number} | null;
  /** Points marked on their curves: where a chosen threshold lies. */
  readonly marks: readonly {readonly curve: number; readonly index: number}[];
}

/** Σ (Rᵢ − Rᵢ₊₁) · Pᵢ over rising thresholds: the step-wise area, no interpolation between points. */
export function averagePrecision(precision: ArrayLike<number>, recall: ArrayLike<number>): number {
  const n = Math.min(precision.length, recall.length);
  if (n === 0) return NaN;
  let area = 0;
  for (let i = 0; i < n; i++) {
    const width = recall[i]! - (i + 1 < n ? recall[i + 1]! : 0);
    if (width > 0 && Number.isFinite(precision[i]!)) area += width * precision[i]!;
  }
  return area;
}

export function drawPr(g: CanvasRenderingContext2D, size: Size, curves: readonly PrCurve[], options: PrOptions): Plane {
  const {colours, range, hover} = options;
  const left = yMargin(g, colours, range.y0, range.y1, size.height - 26, options.labels);
  const plane: Plane = {left, right: size.width - 10, top: 6, bottom: size.height - 20, ...range};
  drawYAxis(g, plane, colours, options.labels);
  drawXAxis(g, plane, colours, options.labels, size.width);
  g.save();
  g.beginPath();
  g.rect(plane.left - 2, plane.top - 2, plane.right - plane.left + 4, plane.bottom - plane.top + 4);
  g.clip();
  const order = curves.map((_, i) => i).sort((a, b) => Number(a === hover?.curve) - Number(b === hover?.curve));
  for (const i of order) {
    const curve = curves[i]!;
    g.strokeStyle = curve.colour;
    g.globalAlpha = hover && hover.curve !== i ? 0.45 : 1;
    g.lineWidth = hover?.curve === i ? 2.25 : curves.length > 12 ? 1.25 : 1.5;
    g.setLineDash([...curve.dash]);
    g.beginPath();
    for (let k = 0; k < curve.recall.length; k++)
      g.lineTo(xOf(plane, curve.recall[k]!), yOf(plane, curve.precision[k]!));
    g.stroke();
  }
  g.globalAlpha = 1;
  g.setLineDash([]);
  for (const mark of options.marks) drawDot(g, plane, curves[mark.curve], mark.index, colours);
  if (hover) {
    const curve = curves[hover.curve];
    if (curve) {
      const x = xOf(plane, curve.recall[hover.index]!);
      const y = yOf(plane, curve.precision[hover.index]!);
      g.fillStyle = colours.lineStrong;
      g.fillRect(Math.round(x), plane.top, 1, plane.bottom - plane.top);
      g.fillRect(plane.left, Math.round(y), plane.right - plane.left, 1);
      drawDot(g, plane, curve, hover.index, colours);
    }
  }
  g.restore();
  return plane;
}

function drawDot(
  g: CanvasRenderingContext2D,
  plane: Plane,
  curve: PrCurve | undefined,
  index: number,
  colours: ThemeColours,
): void {
  if (curve === undefined) return;
  g.beginPath();
  g.arc(xOf(plane, curve.recall[index]!), yOf(plane, curve.precision[index]!), 3.5, 0, 7);
  g.fillStyle = curve.colour;
  g.fill();
  g.strokeStyle = colours.surface;
  g.lineWidth = 1;
  g.stroke();
}

/** The point nearest to a pixel within `radius`, or null. */
export function pickPr(
  plane: Plane,
  curves: readonly PrCurve[],
  x: number,
  y: number,
  radius = 40,
): {curve: number; index: number} | null {
  let best: {curve: number; index: number} | null = null;
  let least = radius;
  curves.forEach((curve, c) => {
    for (let k = 0; k < curve.recall.length; k++) {
      const d = Math.hypot(xOf(plane, curve.recall[k]!) - x, yOf(plane, curve.precision[k]!) - y);
      if (d < least) {
        least = d;
        best = {curve: c, index: k};
      }
    }
  });
  return best;
}
