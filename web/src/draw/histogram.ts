// Histograms over time as numbers: the shape every histogram picture shares, re-binning of raw
// buckets, statistics of one step and where a value falls. Knows nothing of canvases and requests.

/** n steps of one (run, tag), cut into the same bins. `counts` holds n rows of `edges.length - 1`. */
export interface HistogramSeries {
  readonly steps: Float64Array;
  readonly walls: Float64Array;
  readonly edges: Float64Array;
  readonly counts: Float32Array;
  /** Nine values per step at BASIS_POINTS; empty when the server sent none. */
  readonly percentiles: Float32Array;
  /** Six values per step: min, max, num, sum, sum of squares, non-finite values. */
  readonly stats: Float64Array;
}

/** Where the nine percentiles lie, in 1/10000: the ends, the median and ±½, ±1, ±1½ σ of a normal. */
export const BASIS_POINTS = [0, 668, 1587, 3085, 5000, 6915, 8413, 9332, 10000] as const;

export interface Buckets {
  readonly lefts: ArrayLike<number>;
  readonly rights: ArrayLike<number>;
  readonly counts: ArrayLike<number>;
}

/** The range all histograms of a chart share; a range without width is opened as TensorBoard does. */
export function commonRange(lo: number, hi: number): [number, number] {
  if (hi > lo) return [lo, hi];
  return [lo / 1.1 - 1, hi * 1.1 + 1];
}

/** `bins` + 1 equally spaced edges from lo to hi; the last one is exactly hi. */
export function equalEdges(lo: number, hi: number, bins: number): Float64Array {
  const edges = new Float64Array(bins + 1);
  for (let i = 0; i < bins; i++) edges[i] = lo + ((hi - lo) * i) / bins;
  edges[bins] = hi;
  return edges;
}

/**
 * Splits buckets over other bins by overlap. A bucket without width gives its whole count to the
 * bin that holds it (right-open; the last bin is closed), so the total is kept inside the range.
 */
export function rebin(source: Buckets, edges: ArrayLike<number>, out: Float32Array, at = 0): void {
  const bins = edges.length - 1;
  out.fill(0, at, at + bins);
  if (bins < 1) return;
  const lo = edges[0]!;
  const hi = edges[bins]!;
  for (let k = 0; k < source.counts.length; k++) {
    const left = source.lefts[k]!;
    const right = source.rights[k]!;
    const count = source.counts[k]!;
    if (!(count > 0) || right < lo || left > hi) continue;
    if (right <= left) {
      out[at + binOf(edges, left)]! += count;
      continue;
    }
    for (let i = binOf(edges, Math.max(left, lo)); i < bins && edges[i]! < right; i++) {
      const overlap = Math.min(right, edges[i + 1]!) - Math.max(left, edges[i]!);
      if (overlap > 0) out[at + i]! += (count * overlap) / (right - left);
    }
  }
}

/** The bin whose half-open interval holds x; values beyond the ends fall into the end bins. */
export function binOf(edges: ArrayLike<number>, x: number): number {
  let low = 0;
  let high = edges.length - 1;
  while (high - low > 1) {
    const mid = (low + high) >>> 1;
    if (edges[mid]! <= x) low = mid;
    else high = mid;
  }
  return low;
}

/** The same series over other edges; the series itself when the edges are the same. */
export function rebinSeries(series: HistogramSeries, edges: Float64Array): HistogramSeries {
  const from = series.edges.length - 1;
  if (from === edges.length - 1 && series.edges.every((e, i) => e === edges[i])) return series;
  const bins = edges.length - 1;
  const counts = new Float32Array(series.steps.length * bins);
  const lefts = series.edges.subarray(0, from);
  const rights = series.edges.subarray(1);
  for (let s = 0; s < series.steps.length; s++) {
    rebin({lefts, rights, counts: series.counts.subarray(s * from, (s + 1) * from)}, edges, counts, s * bins);
  }
  return {...series, edges, counts};
}

export interface StepStats {
  readonly min: number;
  readonly max: number;
  readonly num: number;
  readonly mean: number;
  readonly deviation: number;
  readonly bad: number;
}

/** Statistics of one step; NaN where the step holds no value. */
export function statsOf(series: HistogramSeries, step: number): StepStats {
  const [min = NaN, max = NaN, num = 0, sum = 0, squares = 0, bad = 0] = series.stats.subarray(step * 6, step * 6 + 6);
  if (!(num > 0)) return {min: NaN, max: NaN, num, mean: NaN, deviation: NaN, bad};
  const mean = sum / num;
  // Rounding may push the difference just below zero for constant data.
  const deviation = Math.sqrt(Math.max(0, squares / num - mean * mean));
  return {min, max, num, mean, deviation, bad};
}

/** The share of a step's values in the bin that holds 0, with that bin's edges; null where 0 lies outside of all. */
export function shareAtZero(series: HistogramSeries, step: number): {share: number; from: number; to: number} | null {
  const bins = series.edges.length - 1;
  if (bins < 1 || series.edges[0]! > 0 || series.edges[bins]! < 0) return null;
  const row = series.counts.subarray(step * bins, (step + 1) * bins);
  let total = 0;
  for (const count of row) total += count;
  const bin = binOf(series.edges, 0);
  return total > 0 ? {share: row[bin]! / total, from: series.edges[bin]!, to: series.edges[bin + 1]!} : null;
}

/** Value below which `share` (0…1) of the counts of one step lie, linear inside a bin; NaN if empty. */
export function quantile(series: HistogramSeries, step: number, share: number): number {
  const bins = series.edges.length - 1;
  const row = series.counts.subarray(step * bins, (step + 1) * bins);
  let total = 0;
  for (const c of row) total += c;
  if (!(total > 0)) return NaN;
  let below = 0;
  for (let b = 0; b < bins; b++) {
    const c = row[b]!;
    if (c > 0 && below + c >= share * total) {
      const inside = Math.max(0, (share * total - below) / c);
      return series.edges[b]! + (series.edges[b + 1]! - series.edges[b]!) * inside;
    }
    below += c;
  }
  return series.edges[bins]!;
}

/** Largest cell over all rows, of counts or of counts as a share of their step. */
export function peak(series: HistogramSeries, asShare: boolean): number {
  const bins = series.edges.length - 1;
  let best = 0;
  for (let s = 0; s < series.steps.length; s++) {
    const total = asShare ? rowTotal(series, s) : 1;
    if (!(total > 0)) continue;
    for (let b = 0; b < bins; b++) best = Math.max(best, series.counts[s * bins + b]! / total);
  }
  return best;
}

export function rowTotal(series: HistogramSeries, step: number): number {
  const bins = series.edges.length - 1;
  let total = 0;
  for (let b = 0; b < bins; b++) total += series.counts[step * bins + b]!;
  return total;
}
