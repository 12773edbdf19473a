// A hundred thousand points as pixels: written straight into an image, one pass, no path a point. Later
// points lie over earlier ones, so the order decides who is seen.

export interface RasterPoints {
  readonly x: Float32Array; // CSS pixels; NaN: not drawn
  readonly y: Float32Array;
  readonly colours: Uint32Array; // 0xAABBGGRR, as an image keeps them
}

/** Squares with cut corners of about `size` device pixels on a sheet of their own, to be drawn again and again. */
export function rasterPoints(
  width: number,
  height: number,
  ratio: number,
  points: RasterPoints,
  size: number,
): OffscreenCanvas | null {
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (w < 1 || h < 1) return null;
  const image = new ImageData(w, h);
  const pixels = new Uint32Array(image.data.buffer);
  const radius = Math.max(1, Math.round(size / 2));
  const {x, y, colours} = points;
  for (let i = 0; i < x.length; i++) {
    const cx = Math.round(x[i]! * ratio);
    const cy = Math.round(y[i]! * ratio);
    if (!(cx > -radius && cx < w + radius && cy > -radius && cy < h + radius)) continue;
    const colour = colours[i]!;
    for (let dy = -radius; dy <= radius; dy++) {
      const py = cy + dy;
      if (py < 0 || py >= h) continue;
      const reach = Math.abs(dy) === radius ? radius - 1 : radius;
      const from = Math.max(0, cx - reach);
      const to = Math.min(w - 1, cx + reach);
      // Short runs: a loop beats fill().
      for (let at = py * w + from, end = py * w + to; at <= end; at++) pixels[at] = colour;
    }
  }
  const sheet = new OffscreenCanvas(w, h);
  sheet.getContext('2d')!.putImageData(image, 0, 0);
  return sheet;
}

/** The point nearest to a place, within `reach` pixels; −1 when there is none. */
export function nearestPoint(points: Pick<RasterPoints, 'x' | 'y'>, px: number, py: number, reach: number): number {
  let best = -1;
  let least = reach * reach;
  for (let i = 0; i < points.x.length; i++) {
    const dx = points.x[i]! - px;
    const dy = points.y[i]! - py;
    const d = dx * dx + dy * dy;
    if (d <= least) [best, least] = [i, d];
  }
  return best;
}

/** Points inside a closed line, by the rule of odd crossings. */
export function pointsInside(
  points: Pick<RasterPoints, 'x' | 'y'>,
  line: readonly (readonly [number, number])[],
): number[] {
  const found: number[] = [];
  if (line.length < 3) return found;
  let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
  for (const [x, y] of line) {
    [left, right] = [Math.min(left, x), Math.max(right, x)];
    [top, bottom] = [Math.min(top, y), Math.max(bottom, y)];
  }
  for (let i = 0; i < points.x.length; i++) {
    const px = points.x[i]!;
    const py = points.y[i]!;
    if (!(px >= left && px <= right && py >= top && py <= bottom)) continue;
    let inside = false;
    for (let a = 0, b = line.length - 1; a < line.length; b = a++) {
      const [ax, ay] = line[a]!;
      const [bx, by] = line[b]!;
      if (ay > py !== by > py && px < ((bx - ax) * (py - ay)) / (by - ay) + ax) inside = !inside;
    }
    if (inside) found.push(i);
  }
  return found;
}

/** One point for each square of `cell` pixels that has any: those that can be drawn larger without hiding each other. */
export function onePerCell(points: Pick<RasterPoints, 'x' | 'y'>, cell: number, most: number): number[] {
  const taken = new Set<number>();
  const found: number[] = [];
  for (let i = 0; i < points.x.length && found.length < most; i++) {
    const key = Math.floor(points.x[i]! / cell) * 65536 + Math.floor(points.y[i]! / cell);
    if (Number.isNaN(key) || taken.has(key)) continue;
    taken.add(key);
    found.push(i);
  }
  return found;
}
