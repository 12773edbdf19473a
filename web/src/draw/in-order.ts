// Histograms whose times go back (falling steps inside one file, several writers, a clock set back). Every picture wants
// time to rise, so the steps are put in order once; what was written in one go is remembered as a strand, because a line
// or a band must not jump between two of them.
import type {HistogramSeries} from './histogram.ts';

export interface InOrder<S extends HistogramSeries> {
  readonly series: S;
  readonly times: Float64Array; // rising
  /** Indices of the steps of each strand, rising; one strand when time never went back. */
  readonly strands: readonly (readonly number[])[];
}

export function inOrder<S extends HistogramSeries>(series: S, times: Float64Array): InOrder<S> {
  const n = times.length;
  const strandOf = new Uint32Array(n);
  for (let i = 1; i < n; i++) strandOf[i] = strandOf[i - 1]! + (times[i]! < times[i - 1]! ? 1 : 0);
  const order = Array.from(strandOf.keys());
  const count = n === 0 ? 0 : strandOf[n - 1]! + 1;
  if (count <= 1) return {series, times, strands: [order]};
  order.sort((a, b) => times[a]! - times[b]!); // stable: of equal times the one written last is in front
  const strands: number[][] = Array.from({length: count}, () => []);
  order.forEach((from, to) => strands[strandOf[from]!]!.push(to));
  const bins = series.edges.length - 1;
  const {steps, walls, counts, percentiles, stats} = series;
  return {
    series: {
      ...series,
      steps: rows(steps, order, 1),
      walls: rows(walls, order, 1),
      counts: rows(counts, order, bins),
      percentiles: rows(percentiles, order, 9),
      stats: rows(stats, order, 6),
    },
    times: rows(times, order, 1),
    strands,
  };
}

function rows<A extends Float32Array | Float64Array>(from: A, order: readonly number[], width: number): A {
  const to = from.slice() as A;
  order.forEach((row, i) => to.set(from.subarray(row * width, (row + 1) * width), i * width));
  return to;
}

/** Pieces of a strand that follow each other without a hole. */
export function unbroken(strand: readonly number[], isHole: (index: number) => boolean): number[][] {
  const out: number[][] = [];
  let open = false;
  for (const index of strand) {
    if (isHole(index)) open = false;
    else if (open) out[out.length - 1]!.push(index);
    else {
      out.push([index]);
      open = true;
    }
  }
  return out;
}
