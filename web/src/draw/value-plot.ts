// Single values of runs: points of two columns, and boxes of the values of each group.
import type {ThemeColours} from './theme-colours.ts';
import {drawXAxis, drawYAxis, type Labels, type Plane, setFont, type Size, xOf, yMargin, yOf} from './plane.ts';

export interface ScatterPoint {
  readonly x: number;
  readonly y: number;
  readonly colour: string;
}

export interface PlotBox {
  readonly name: string;
  readonly colour: string;
  readonly min: number;
  readonly q1: number;
  readonly median: number;
  readonly q3: number;
  readonly max: number;
  readonly points: readonly number[];
}

const TITLE = 14; // px under an axis for its name
const RADIUS = 4;

/** The range of some numbers with a margin; a single value gets room on both sides. */
export function paddedRange(values: Iterable<number>, margin = 0.06): [number, number] {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  if (!(low <= high)) return [0, 1];
  const span = high - low || Math.abs(high) || 1;
  return [low - margin * span, high + margin * span];
}

export function drawScatter(
  g: CanvasRenderingContext2D,
  size: Size,
  points: readonly ScatterPoint[],
  options: {colours: ThemeColours; labels: Labels; title: string; hot: number | null},
): Plane {
  const {colours, labels} = options;
  const [x0, x1] = paddedRange(points.map(one => one.x));
  const [y0, y1] = paddedRange(points.map(one => one.y));
  const left = yMargin(g, colours, y0, y1, size.height - 26 - TITLE, labels);
  const plane: Plane = {left, right: size.width - 10, top: 6, bottom: size.height - 20 - TITLE, x0, x1, y0, y1};
  drawYAxis(g, plane, colours, labels);
  drawXAxis(g, plane, colours, labels, size.width);
  drawTitle(g, plane, size, options.title, colours);
  points.forEach((point, i) => {
    g.beginPath();
    g.arc(xOf(plane, point.x), yOf(plane, point.y), i === options.hot ? RADIUS + 2 : RADIUS, 0, 7);
    g.globalAlpha = options.hot === null || i === options.hot ? 0.9 : 0.35;
    g.fillStyle = point.colour;
    g.fill();
    g.strokeStyle = colours.surface;
    g.lineWidth = 1;
    g.stroke();
  });
  g.globalAlpha = 1;
  return plane;
}

/** The point under the pointer, or null. */
export function pickPoint(plane: Plane, points: readonly ScatterPoint[], x: number, y: number): number | null {
  let best: number | null = null;
  let least = 20; // px
  points.forEach((point, i) => {
    const d = Math.hypot(xOf(plane, point.x) - x, yOf(plane, point.y) - y);
    if (d < least) [best, least] = [i, d];
  });
  return best;
}

const slotOf = (plane: Plane, i: number, n: number): number =>
  plane.left + ((i + 0.5) / Math.max(1, n)) * (plane.right - plane.left);

/** Which box a pixel belongs to. */
export function pickBox(plane: Plane, n: number, x: number): number | null {
  const i = Math.floor(((x - plane.left) / (plane.right - plane.left || 1)) * n);
  return i >= 0 && i < n ? i : null;
}

export function drawBoxes(
  g: CanvasRenderingContext2D,
  size: Size,
  boxes: readonly PlotBox[],
  options: {colours: ThemeColours; labels: Labels; hot: number | null},
): Plane {
  const {colours, labels} = options;
  const [y0, y1] = paddedRange(boxes.flatMap(box => [box.min, box.max]));
  const left = yMargin(g, colours, y0, y1, size.height - 26, labels);
  const plane: Plane = {
    left,
    right: size.width - 10,
    top: 6,
    bottom: size.height - 20,
    x0: 0,
    x1: boxes.length,
    y0,
    y1,
  };
  drawYAxis(g, plane, colours, labels);
  const room = (plane.right - plane.left) / Math.max(1, boxes.length);
  const half = Math.min(22, room * 0.3);
  boxes.forEach((box, i) => {
    const x = slotOf(plane, i, boxes.length);
    const at = (value: number): number => yOf(plane, value);
    g.globalAlpha = options.hot === null || options.hot === i ? 1 : 0.5;
    g.strokeStyle = box.colour;
    g.lineWidth = 1.25;
    g.beginPath();
    g.moveTo(x, at(box.min));
    g.lineTo(x, at(box.q1));
    g.moveTo(x, at(box.q3));
    g.lineTo(x, at(box.max));
    for (const end of [box.min, box.max]) {
      g.moveTo(x - half / 2, at(end));
      g.lineTo(x + half / 2, at(end));
    }
    g.stroke();
    g.fillStyle = colours.surface;
    g.fillRect(x - half, at(box.q3), 2 * half, Math.max(1, at(box.q1) - at(box.q3)));
    g.strokeRect(x - half, at(box.q3), 2 * half, Math.max(1, at(box.q1) - at(box.q3)));
    g.fillStyle = box.colour;
    g.fillRect(x - half, Math.round(at(box.median)) - 1, 2 * half, 2);
    if (box.points.length <= 60)
      for (const [k, value] of box.points.entries()) {
        g.beginPath();
        g.arc(x + half * 0.5 * (((k * 0.618) % 1) - 0.5) * 2, at(value), 2, 0, 7); // spread, the same at every drawing
        g.fill();
      }
    name(g, box.name, x, room, plane, colours);
  });
  g.globalAlpha = 1;
  return plane;
}

function name(
  g: CanvasRenderingContext2D,
  text: string,
  x: number,
  room: number,
  plane: Plane,
  colours: ThemeColours,
): void {
  setFont(g, colours);
  g.textAlign = 'center';
  g.textBaseline = 'top';
  g.fillStyle = colours.text2;
  g.fillText(fitted(g, text, room - 4), x, plane.bottom + 6);
}

function drawTitle(g: CanvasRenderingContext2D, plane: Plane, size: Size, text: string, colours: ThemeColours): void {
  setFont(g, colours);
  g.textAlign = 'center';
  g.textBaseline = 'top';
  g.fillStyle = colours.text2;
  g.fillText(fitted(g, text, plane.right - plane.left), (plane.left + plane.right) / 2, size.height - TITLE);
}

/** The text, cut with an ellipsis where it is wider than its room. */
function fitted(g: CanvasRenderingContext2D, text: string, room: number): string {
  if (g.measureText(text).width <= room) return text;
  let n = text.length;
  while (n > 1 && g.measureText(`${text.slice(0, n)}…`).width > room) n--;
  return `${text.slice(0, n)}…`;
}
