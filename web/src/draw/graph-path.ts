// Shapes of a graph's picture as SVG path data; numbers in, text out.

/** A smooth line through bends: vertical at both ends, round between. */
export function edgePath(points: readonly number[]): string {
  if (points.length < 4) return '';
  const one = (value: number): string => value.toFixed(1);
  let path = `M${one(points[0]!)} ${one(points[1]!)}`;
  for (let i = 2; i < points.length; i += 2) {
    const [x0, y0, x1, y1] = [points[i - 2]!, points[i - 1]!, points[i]!, points[i + 1]!];
    const middle = (y0 + y1) / 2;
    path += `C${one(x0)} ${one(middle)} ${one(x1)} ${one(middle)} ${one(x1)} ${one(y1)}`;
  }
  return path;
}

/** Width of an edge by the number of elements that flow along it: 1 px for a scalar, 7 px for millions. */
export function edgeWidth(elements: number): number {
  return Math.min(7, 0.9 + Math.max(0, elements) ** 0.3 / 12);
}

/** A filled triangle at the end of a line, in the direction of its last stretch (lines end upright). */
export function arrowHead(points: readonly number[], width: number): string {
  const n = points.length;
  if (n < 4) return '';
  const [x, y] = [points[n - 2]!, points[n - 1]!];
  const size = 4 + width / 2;
  const back = points[n - 3]! <= y ? -1 : 1;
  return `M${x.toFixed(1)} ${y.toFixed(1)}l${(-size * 0.75).toFixed(1)} ${(back * size).toFixed(1)}h${(size * 1.5).toFixed(1)}z`;
}
