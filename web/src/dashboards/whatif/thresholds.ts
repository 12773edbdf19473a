// Figures of one threshold out of the counts of all of them.
import type {Sweep} from '../../data/whatif.ts';

export interface Figures {
  readonly tp: number;
  readonly fp: number;
  readonly tn: number;
  readonly fn: number;
  readonly total: number;
  readonly accuracy: number;
  readonly precision: number;
  readonly recall: number;
  readonly falsePositiveRate: number;
  readonly f1: number;
  readonly cost: number;
}
const share = (a: number, b: number): number => (b > 0 ? a / b : 0);

export const figuresAt = (sweep: Sweep, k: number, ratio: number): Figures => figuresTogether([[sweep, k]], ratio);

/** Several groups, each at a threshold of its own, as one. */
export function figuresTogether(parts: readonly (readonly [Sweep, number])[], ratio: number): Figures {
  let [tp, fp, tn, fn] = [0, 0, 0, 0];
  for (const [sweep, k] of parts) {
    tp += sweep.tp[k]!;
    fp += sweep.fp[k]!;
    tn += sweep.tn[k]!;
    fn += sweep.fn[k]!;
  }
  const total = tp + fp + tn + fn;
  return {
    tp,
    fp,
    tn,
    fn,
    total,
    accuracy: share(tp + tn, total),
    precision: share(tp, tp + fp),
    recall: share(tp, tp + fn),
    falsePositiveRate: share(fp, fp + tn),
    f1: tp === 0 ? (fp + fn > 0 ? 0 : 1) : (2 * tp) / (2 * tp + fp + fn),
    cost: fp * ratio + fn,
  };
}

export interface Gaps {
  readonly positive_rate: number;
  readonly recall: number;
  readonly false_positive_rate: number;
  readonly accuracy: number;
}
/** The largest differences between two groups; a group whose rate is 0/0 does not count. */
export function gapsOf(parts: readonly (readonly [Sweep, number])[]): Gaps {
  const figures = parts.map(part => figuresTogether([part], 1));
  const gap = (rate: (f: Figures) => number): number => {
    const rates = figures.map(rate).filter(v => !Number.isNaN(v));
    return rates.length === 0 ? 0 : Math.max(...rates) - Math.min(...rates);
  };
  return {
    positive_rate: gap(f => (f.tp + f.fp) / f.total),
    recall: gap(f => f.tp / (f.tp + f.fn)),
    false_positive_rate: gap(f => f.fp / (f.fp + f.tn)),
    accuracy: gap(f => (f.tp + f.tn) / f.total),
  };
}

/** Wilson's 95 % interval of `hits` out of `count`. */
export function wilson(hits: number, count: number): readonly [number, number] | null {
  if (count <= 0) return null;
  const z2 = 1.959963984540054 ** 2;
  const p = hits / count;
  const scale = 1 / (1 + z2 / count);
  const centre = (p + z2 / (2 * count)) * scale;
  const half = Math.sqrt(z2) * scale * Math.sqrt((p * (1 - p)) / count + z2 / (4 * count * count));
  return [hits <= 0 ? 0 : Math.max(0, centre - half), hits >= count ? 1 : Math.min(1, centre + half)];
}
