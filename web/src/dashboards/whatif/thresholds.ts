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

export function figuresAt(sweep: Sweep, k: number, ratio: number): Figures {
  const [tp, fp, tn, fn] = [sweep.tp[k]!, sweep.fp[k]!, sweep.tn[k]!, sweep.fn[k]!];
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
