// Two pictures compared pixel by pixel: the difference as numbers, its statistics, and the numbers as
// colours. Works on RGBA bytes as a canvas gives them; values are in 0…1, so a difference is in −1…1.
import {mapIndex, mapTable} from './colour-map.ts';

/** What a canvas gives for a picture: four bytes a pixel, row by row. */
export interface Pixels {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8ClampedArray;
}

export interface Difference {
  readonly width: number;
  readonly height: number;
  /**
   * A − B, one value a pixel: its size is the mean of |A − B| over red, green and blue times opacity, or the
   * difference in opacity where that is larger; its sign says which side is brighter (or more opaque).
   */
  readonly values: Float32Array;
  readonly meanAbs: number;
  readonly largest: number; // signed
  readonly at: readonly [number, number]; // where the largest is
  readonly psnrDb: number; // of the same channels; Infinity when the pictures are equal
  readonly correlation: number; // of the grey values; NaN when one picture is flat
  /** True when the sizes differ: only the part both cover was compared. */
  readonly cropped: boolean;
}

export type Channel = 'rgb' | 'r' | 'g' | 'b';

export function difference(a: Pixels, b: Pixels): Difference {
  const width = Math.min(a.width, b.width);
  const height = Math.min(a.height, b.height);
  const count = width * height;
  const values = new Float32Array(count);
  let [sumAbs, squares, largest, largestAt] = [0, 0, 0, 0];
  let [ma, mb, aa, bb, ab] = [0, 0, 0, 0, 0];
  for (let y = 0, p = 0; y < height; y++) {
    for (let x = 0; x < width; x++, p++) {
      const i = (y * a.width + x) * 4;
      const j = (y * b.width + x) * 4;
      const [oa, ob] = [a.data[i + 3]! / 255, b.data[j + 3]! / 255];
      let [ga, gb, size, square] = [0, 0, 0, 0];
      for (let c = 0; c < 3; c++) {
        const va = (a.data[i + c]! / 255) * oa;
        const vb = (b.data[j + c]! / 255) * ob;
        ga += va / 3;
        gb += vb / 3;
        size += Math.abs(va - vb) / 3;
        square += (va - vb) ** 2 / 3;
      }
      const opacity = Math.abs(oa - ob);
      size = Math.max(size, opacity);
      squares += Math.max(square, opacity ** 2);
      const d = (ga - gb || oa - ob) < 0 ? -size : size;
      values[p] = d;
      sumAbs += Math.abs(d);
      if (Math.abs(d) > Math.abs(largest)) [largest, largestAt] = [d, p];
      ma += ga;
      mb += gb;
      aa += ga * ga;
      bb += gb * gb;
      ab += ga * gb;
    }
  }
  const n = Math.max(1, count);
  const variance = (s: number, m: number): number => Math.max(0, s / n - (m / n) ** 2);
  const spread = Math.sqrt(variance(aa, ma) * variance(bb, mb));
  return {
    width,
    height,
    values,
    meanAbs: sumAbs / n,
    largest,
    at: [largestAt % Math.max(1, width), Math.floor(largestAt / Math.max(1, width))],
    psnrDb: squares === 0 ? Infinity : 10 * Math.log10(1 / (squares / n)),
    correlation: spread > 1e-12 ? (ab / n - (ma / n) * (mb / n)) / spread : NaN,
    cropped: a.width !== b.width || a.height !== b.height,
  };
}

/** A range around zero that holds the difference: 0.1, 0.2, 0.4 or 1. */
export function differenceLimit(d: Difference): number {
  const size = Math.abs(d.largest);
  return [0.1, 0.2, 0.4].find(limit => size <= limit) ?? 1;
}

/** Counts of the differences in `bins` equal bins over −limit…limit; beyond it the end bins count. */
export function differenceBins(d: Difference, limit: number, bins: number): Float64Array {
  const out = new Float64Array(bins);
  for (const v of d.values) {
    out[Math.max(0, Math.min(bins - 1, Math.floor(((v / limit + 1) / 2) * bins)))]!++;
  }
  return out;
}

/** Signed: blue – neutral – orange around zero. Magnitude: |A − B| on the ember map. */
export function paintDifference(
  d: Difference,
  limit: number,
  how: 'signed' | 'magnitude',
  dark: boolean,
): Uint8ClampedArray {
  const table = how === 'signed' ? mapTable('div', dark) : mapTable('ember', dark);
  const out = new Uint8ClampedArray(d.values.length * 4);
  for (let p = 0; p < d.values.length; p++) {
    const v = d.values[p]! / limit;
    const i = mapIndex(how === 'signed' ? (v + 1) / 2 : Math.abs(v)) * 3;
    out[p * 4] = table[i]!;
    out[p * 4 + 1] = table[i + 1]!;
    out[p * 4 + 2] = table[i + 2]!;
    out[p * 4 + 3] = 255;
  }
  return out;
}

export interface Adjustment {
  readonly brightness: number; // 1 = unchanged
  readonly contrast: number; // 1 = unchanged
  readonly gamma: number; // 1 = unchanged
  readonly channel: Channel;
  /** Grey values of the chosen channel (or of a grey picture) on the ember map. */
  readonly falseColour: boolean;
}

export const UNCHANGED: Adjustment = {brightness: 1, contrast: 1, gamma: 1, channel: 'rgb', falseColour: false};

/** Contrast, then brightness (TensorBoard's order), then gamma; then the choice of channel. */
export function adjust(source: Pixels, how: Adjustment): Uint8ClampedArray {
  const curve = new Uint8ClampedArray(256);
  for (let v = 0; v < 256; v++) {
    const contrasted = (v / 255 - 0.5) * how.contrast + 0.5;
    const bright = Math.min(1, Math.max(0, Math.min(1, Math.max(0, contrasted)) * how.brightness));
    curve[v] = 255 * bright ** (1 / how.gamma);
  }
  const out = new Uint8ClampedArray(source.data.length);
  const one = how.channel === 'rgb' ? -1 : 'rgb'.indexOf(how.channel);
  const ember = mapTable('ember', false);
  for (let i = 0; i < out.length; i += 4) {
    let r = curve[source.data[i]!]!;
    let g = curve[source.data[i + 1]!]!;
    let b = curve[source.data[i + 2]!]!;
    if (one >= 0) r = g = b = [r, g, b][one]!;
    if (how.falseColour) {
      const k = mapIndex((r + g + b) / 765) * 3;
      [r, g, b] = [ember[k]!, ember[k + 1]!, ember[k + 2]!];
    }
    out[i] = r;
    out[i + 1] = g;
    out[i + 2] = b;
    out[i + 3] = source.data[i + 3]!;
  }
  return out;
}

/** The four bytes of one pixel, or null outside. */
export function pixelAt(p: Pixels, x: number, y: number): [number, number, number, number] | null {
  if (x < 0 || y < 0 || x >= p.width || y >= p.height) return null;
  const i = (y * p.width + x) * 4;
  return [p.data[i]!, p.data[i + 1]!, p.data[i + 2]!, p.data[i + 3]!];
}
