// Smoothing of a complete series, the same rules as the server's. Used when every point of a series is
// here already, so that moving the slider answers within a frame.
import type {Numbers} from './chart-model.ts';

export type SmoothKind = 'none' | 'ema' | 'mean' | 'gauss';

export function smooth(y: Numbers, kind: SmoothKind, p: number): Numbers {
  if (kind === 'ema') return ema(y, p);
  if (kind === 'mean') return windowMean(y, p);
  if (kind === 'gauss') return gauss(y, p);
  return y;
}

/** TensorBoard's debiased exponential mean; NaN passes and leaves the state alone. */
export function ema(y: Numbers, weight: number): Numbers {
  if (weight <= 0 || allEqual(y)) return y;
  const out = new Float64Array(y.length);
  let last = 0;
  let n = 0;
  for (let i = 0; i < y.length; i++) {
    const v = y[i]!;
    if (!Number.isFinite(v)) {
      out[i] = v;
      continue;
    }
    last = last * weight + (1 - weight) * v;
    n++;
    out[i] = weight === 1 ? last : last / (1 - weight ** n);
  }
  return out;
}

/** Mean of the finite values in a window of `points` (odd), cut at the ends. */
export function windowMean(y: Numbers, points: number): Numbers {
  const half = Math.max(0, Math.floor((points - 1) / 2));
  if (half === 0) return y;
  const out = new Float64Array(y.length);
  for (let i = 0; i < y.length; i++) {
    if (!Number.isFinite(y[i]!)) {
      out[i] = y[i]!;
      continue;
    }
    let sum = 0;
    let n = 0;
    for (let k = Math.max(0, i - half); k <= Math.min(y.length - 1, i + half); k++) {
      if (!Number.isFinite(y[k]!)) continue;
      sum += y[k]!;
      n++;
    }
    out[i] = sum / n;
  }
  return out;
}

/** Weights exp(−d²/2σ²), cut at 4σ, normalised by the finite points there are. */
export function gauss(y: Numbers, sigma: number): Numbers {
  if (!(sigma > 0)) return y;
  const reach = Math.ceil(4 * sigma);
  const out = new Float64Array(y.length);
  for (let i = 0; i < y.length; i++) {
    if (!Number.isFinite(y[i]!)) {
      out[i] = y[i]!;
      continue;
    }
    let sum = 0;
    let weights = 0;
    for (let k = Math.max(0, i - reach); k <= Math.min(y.length - 1, i + reach); k++) {
      if (!Number.isFinite(y[k]!)) continue;
      const w = Math.exp(-((k - i) ** 2) / (2 * sigma * sigma));
      sum += w * y[k]!;
      weights += w;
    }
    out[i] = sum / weights;
  }
  return out;
}

function allEqual(y: Numbers): boolean {
  for (let i = 1; i < y.length; i++) if (y[i] !== y[0]) return false;
  return true;
}
