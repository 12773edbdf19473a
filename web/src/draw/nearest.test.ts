import {expect, it} from 'vitest';
import {lastUpTo, lowerBound, nearestAnywhere, nearestIndex} from './nearest.ts';

it('nearestIndex prefers the earlier of two', () => {
  expect([nearestIndex([0, 10, 20], 5), nearestIndex([0, 10, 20], 99), nearestIndex([], 1)]).toEqual([0, 2, -1]);
});
it('lowerBound finds the first that is not below', () => {
  expect([-1, 0, 5, 20, 21].map(at => lowerBound([0, 10, 10, 20], at))).toEqual([0, 0, 1, 3, 4]);
});
it('nearestAnywhere reads lists that go back', () => {
  expect([nearestAnywhere([0, 9, 3, 6], 4), nearestAnywhere([], 4)]).toEqual([2, -1]);
});
it('lastUpTo finds what holds at a time', () => {
  const times = [1, 2, 2, 8];
  expect([0, 1, 2, 7, 9].map(at => lastUpTo(times.length, i => times[i]!, at))).toEqual([0, 0, 2, 2, 3]);
  expect(lastUpTo(0, () => 0, 5)).toBe(-1);
});
