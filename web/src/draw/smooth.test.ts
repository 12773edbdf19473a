import {expect, test} from 'vitest';
import {ema, gauss, windowMean} from './smooth.ts';

test('the exponential mean is debiased and skips what is not finite', () => {
  // By hand: last = .5·0 + .5·2 = 1, / (1 − .5) = 2; then last = .5 + 2 = 2.5, / .75 = 3.333…
  expect([...Array.from(ema([2, 4, NaN, 6], 0.5))].map(v => +v.toFixed(6))).toEqual([2, 3.333333, NaN, 4.857143]);
  expect(ema([3, 3, 3], 0.9)).toEqual([3, 3, 3]);
  expect(ema([1, 2], 0)).toEqual([1, 2]);
});

test('windows are cut at the ends', () => {
  expect(Array.from(windowMean([1, 2, 6, 7], 3))).toEqual([1.5, 3, 5, 6.5]);
  expect(Array.from(windowMean([1, NaN, 3], 3))).toEqual([1, NaN, 3]);
  const smoothed = Array.from(gauss([0, 0, 1, 0, 0], 1));
  expect(smoothed[2]).toBeGreaterThan(smoothed[1]!);
  expect(smoothed[1]).toBeCloseTo(smoothed[3]!);
});
