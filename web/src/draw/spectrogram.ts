// Which frequencies a sound holds over time: short Fourier transforms (Hann window), loudness in decibels below the
// loudest. Pure numbers and one painting routine.
import {mapColour} from './palette.ts';

export interface Spectrogram {
  readonly columns: number; // over time
  readonly rows: number; // frequencies, 0 at row 0
  readonly seconds: number;
  readonly highest: number; // Hz, of the last row
  readonly level: Float32Array; // columns × rows, dB below the loudest (≤ 0)
}

const WINDOW = 1024; // samples of one transform
const MOST_COLUMNS = 800;
export const FLOOR_DB = -80;

/** In place, radix 2: `re` and `im` hold the transform afterwards. Their length is a power of two. */
export function fft(re: Float64Array, im: Float64Array): void {
  const n = re.length;
  for (let i = 1, j = 0; i < n; i++) {
    let bit = n >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) {
      [re[i], re[j]] = [re[j]!, re[i]!];
      [im[i], im[j]] = [im[j]!, im[i]!];
    }
  }
  for (let size = 2; size <= n; size <<= 1) {
    const half = size >> 1;
    for (let k = 0; k < half; k++) {
      const angle = (-2 * Math.PI * k) / size;
      const [c, s] = [Math.cos(angle), Math.sin(angle)];
      for (let i = k; i < n; i += size) {
        const j = i + half;
        const [a, b] = [re[j]! * c - im[j]! * s, re[j]! * s + im[j]! * c];
        re[j] = re[i]! - a;
        im[j] = im[i]! - b;
        re[i] = re[i]! + a;
        im[i] = im[i]! + b;
      }
    }
  }
}

export function spectrogramOf(samples: Float32Array, rate: number): Spectrogram {
  const rows = WINDOW / 2;
  const columns = Math.max(1, Math.min(MOST_COLUMNS, Math.ceil(samples.length / (WINDOW / 4))));
  const hop = columns > 1 ? Math.max(1, (samples.length - WINDOW) / (columns - 1)) : 1;
  const power = new Float32Array(columns * rows);
  const [re, im] = [new Float64Array(WINDOW), new Float64Array(WINDOW)];
  let most = 0;
  for (let c = 0; c < columns; c++) {
    const from = Math.max(0, Math.round(c * hop));
    for (let i = 0; i < WINDOW; i++)
      re[i] = (samples[from + i] ?? 0) * (0.5 - 0.5 * Math.cos((2 * Math.PI * i) / WINDOW));
    im.fill(0);
    fft(re, im);
    for (let r = 0; r < rows; r++) {
      const value = re[r]! ** 2 + im[r]! ** 2;
      power[c * rows + r] = value;
      if (value > most) most = value;
    }
  }
  const level = power.map(value =>
    most > 0 && value > 0 ? Math.max(FLOOR_DB, 10 * Math.log10(value / most)) : FLOOR_DB,
  );
  return {columns, rows, seconds: samples.length / rate, highest: rate / 2, level};
}

/** The picture of it, a pixel a place: row 0 (the lowest frequency) at the bottom. */
export function spectrogramPixels({columns, rows, level}: Spectrogram, dark: boolean): ImageData {
  const image = new ImageData(columns, rows);
  const colours = Array.from({length: 256}, (_, i) => {
    const hex = mapColour('seq', i / 255, dark);
    return [1, 3, 5].map(at => parseInt(hex.slice(at, at + 2), 16));
  });
  for (let c = 0; c < columns; c++)
    for (let r = 0; r < rows; r++) {
      const share = 1 - level[c * rows + r]! / FLOOR_DB;
      const [red, green, blue] = colours[Math.round(255 * Math.max(0, Math.min(1, share)))]!;
      image.data.set([red!, green!, blue!, 255], 4 * ((rows - 1 - r) * columns + c));
    }
  return image;
}
