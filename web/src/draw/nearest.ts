// Places in rising lists of numbers, by bisection.
type Numbers = ArrayLike<number>;

/** Index of the first element that is not below `at`; the length when all are. */
export function lowerBound(x: Numbers, at: number): number {
  let lo = 0;
  let hi = x.length;
  while (lo < hi) {
    const mid = (lo + hi) >>> 1;
    if (x[mid]! < at) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}

/** Index of the element closest to `at`, the earlier of two; −1 for an empty list. */
export function nearestIndex(x: Numbers, at: number): number {
  const above = lowerBound(x, at);
  if (above === x.length) return above - 1;
  return above > 0 && at - x[above - 1]! <= x[above]! - at ? above - 1 : above;
}

/** First index and the one after the last of the elements closest to `at`: more than one where times repeat. */
export function nearestRun(x: Numbers, at: number): [number, number] {
  const found = nearestIndex(x, at);
  if (found < 0) return [0, 0];
  const first = lowerBound(x, x[found]!);
  let end = first + 1;
  while (end < x.length && x[end] === x[first]) end++;
  return [first, end];
}

/** The same as `nearestIndex` for a list that may go back. */
export function nearestAnywhere(x: Numbers, at: number): number {
  let best = -1;
  let distance = Infinity;
  for (let i = 0; i < x.length; i++) {
    const d = Math.abs(x[i]! - at);
    if (d < distance) [best, distance] = [i, d];
  }
  return best;
}

/** Index of the last of `n` rising values that is not above `at`; the first when all are, −1 when there are none. */
export function lastUpTo(n: number, valueOf: (i: number) => number, at: number): number {
  let lo = 0;
  let hi = n - 1;
  while (lo < hi) {
    const mid = (lo + hi + 1) >>> 1;
    if (valueOf(mid) <= at) lo = mid;
    else hi = mid - 1;
  }
  return hi;
}
