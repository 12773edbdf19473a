// Histograms as outlines over one count axis: all steps of one run, or one step of several runs.
import type {ThemeColours} from './theme-colours.ts';
import {drawXAxis, drawYAxis, type Labels, type Plane, type Size, xOf, yMargin, yOf} from './plane.ts';

export interface Outline {
  readonly colour: string;
  readonly dash: readonly number[];
  readonly strong: boolean; // the selected step
  readonly edges: Float64Array;
  readonly heights: Float32Array; // counts, or shares of the step
}

export interface OutlineOptions {
  readonly colours: ThemeColours;
  readonly valueLabels: Labels;
  readonly countLabels: Labels;
  readonly hover: {readonly line: number; readonly bin: number} | null;
}

export function outlineRange(lines: readonly Outline[]): {x0: number; x1: number; y0: number; y1: number} {
  let [x0, x1, y1] = [Infinity, -Infinity, 0];
  for (const {edges, heights} of lines) {
    x0 = Math.min(x0, edges[0] ?? Infinity);
    x1 = Math.max(x1, edges[edges.length - 1] ?? -Infinity);
    for (const h of heights) if (h > y1) y1 = h;
  }
  if (x0 > x1) [x0, x1] = [0, 1];
  return {x0, x1, y0: 0, y1: y1 > 0 ? y1 * 1.05 : 1};
}

const centre = (edges: Float64Array, b: number): number => (edges[b]! + edges[b + 1]!) / 2;

export function drawOutlines(
  g: CanvasRenderingContext2D,
  size: Size,
  lines: readonly Outline[],
  options: OutlineOptions,
): Plane {
  const {colours, hover} = options;
  const range = outlineRange(lines);
  const left = yMargin(g, colours, range.y0, range.y1, size.height - 26, options.countLabels);
  const plane: Plane = {left, right: size.width - 10, top: 6, bottom: size.height - 20, ...range};
  drawYAxis(g, plane, colours, options.countLabels);
  drawXAxis(g, plane, colours, options.valueLabels, size.width);
  const rank = (i: number): number => (i === hover?.line ? 2 : lines[i]!.strong ? 1 : 0);
  for (const i of lines.map((_, k) => k).sort((a, b) => rank(a) - rank(b))) {
    const line = lines[i]!;
    const hot = i === hover?.line;
    g.strokeStyle = line.strong && !hot ? colours.accent : line.colour;
    g.lineWidth = hot || line.strong ? 2.25 : lines.length > 60 ? 1 : lines.length > 12 ? 1.25 : 1.5;
    g.globalAlpha = hover && !hot ? 0.45 : lines.length > 60 && !hot && !line.strong ? 0.7 : 1;
    g.setLineDash([...line.dash]);
    g.beginPath();
    for (let b = 0; b < line.heights.length; b++)
      g.lineTo(xOf(plane, centre(line.edges, b)), yOf(plane, line.heights[b]!));
    g.stroke();
  }
  g.globalAlpha = 1;
  g.setLineDash([]);
  const hot = hover && lines[hover.line];
  if (hover && hot) {
    g.beginPath();
    g.arc(xOf(plane, centre(hot.edges, hover.bin)), yOf(plane, hot.heights[hover.bin]!), 3.5, 0, 7);
    g.fillStyle = hot.colour;
    g.fill();
    g.strokeStyle = colours.surface;
    g.lineWidth = 1;
    g.stroke();
  }
  return plane;
}

/** Outline and bin nearest to a pixel: the bin by x, then the line by height there. */
export function pickOutline(
  plane: Plane,
  lines: readonly Outline[],
  x: number,
  y: number,
): {line: number; bin: number} | null {
  if (x < plane.left - 4 || x > plane.right + 4 || y < plane.top - 4 || y > plane.bottom + 4) return null;
  let best: {line: number; bin: number} | null = null;
  let least = Infinity;
  lines.forEach(({edges, heights}, line) => {
    let bin = -1;
    let near = Infinity;
    for (let b = 0; b < heights.length; b++) {
      const d = Math.abs(xOf(plane, centre(edges, b)) - x);
      if (d < near) [bin, near] = [b, d];
    }
    if (bin < 0) return;
    const d = Math.abs(yOf(plane, heights[bin]!) - y);
    if (d < least) {
      least = d;
      best = {line, bin};
    }
  });
  return best;
}
