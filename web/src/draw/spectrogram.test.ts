import {describe, expect, it} from 'vitest';
import {fft, FLOOR_DB, spectrogramOf} from './spectrogram.ts';

const RATE = 16000;
const tone = (hz: number, seconds: number): Float32Array =>
  Float32Array.from({length: seconds * RATE}, (_, i) => Math.sin((2 * Math.PI * hz * i) / RATE));

describe('spectrogram', () => {
  it('transforms as the definition says', () => {
    const n = 16;
    const re = Float64Array.from({length: n}, (_, i) => Math.sin(i) + i / 7);
    const wanted = Array.from({length: n}, (_, k) =>
      re.reduce((sum, value, i) => sum + value * Math.cos((-2 * Math.PI * k * i) / n), 0),
    );
    const [a, b] = [re.slice(), new Float64Array(n)];
    fft(a, b);
    wanted.forEach((value, k) => expect(a[k]).toBeCloseTo(value, 9));
  });
  it('has its loudest row at the frequency of a tone', () => {
    for (const hz of [440, 3000]) {
      const {level, rows, columns, highest, seconds} = spectrogramOf(tone(hz, 1), RATE);
      expect(seconds).toBe(1);
      const middle = (columns >> 1) * rows;
      let best = 0;
      for (let r = 0; r < rows; r++) if (level[middle + r]! > level[middle + best]!) best = r;
      expect(Math.abs((best / rows) * highest - hz)).toBeLessThan(highest / rows);
      expect(level[middle + best]).toBeGreaterThan(-1);
    }
  });
  it('is quiet everywhere for silence, and takes a clip shorter than a window', () => {
    expect(spectrogramOf(new Float32Array(5000), RATE).level.every(value => value === FLOOR_DB)).toBe(true);
    expect(spectrogramOf(new Float32Array(10), RATE).columns).toBe(1);
  });
});
