import {expect, it} from 'vitest';
import {figuresAt, wilson} from './thresholds.ts';

const sweep = {tp: [4], fp: [2], tn: [4], fn: [2]};

it('figures of a threshold', () => {
  const f = figuresAt(sweep, 0, 2);
  expect([f.total, f.cost]).toEqual([12, 6]);
  expect(f.accuracy).toBeCloseTo(8 / 12);
  expect(f.f1).toBeCloseTo(2 / 3);
  expect(figuresAt({tp: [0], fp: [0], tn: [3], fn: [0]}, 0, 1).f1).toBe(1);
});
it('the interval of a share', () => {
  expect(wilson(0, 0)).toBeNull();
  expect(wilson(5, 10)![0]).toBeCloseTo(0.2366, 3);
  expect(wilson(10, 10)![1]).toBe(1);
});
