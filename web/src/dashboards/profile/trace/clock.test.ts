import {expect, test} from 'vitest';
import type {TraceInfo} from '../../../data/trace.ts';
import {clockOf} from './clock.ts';

const info = {t0: 1e9, t1: 9e9, start_ns: '1794000000123456789'} as unknown as TraceInfo;
const steps = {
  start: null,
  t0: 0,
  t1: 1,
  steps: [
    {name: '7', begin: 3e9, end: 5e9},
    {name: '8', begin: 5e9, end: 7e9},
  ],
};
const at = (kind: string, ps: number, step: number, zero: number | null = null): string =>
  clockOf(kind, {info, steps, middle: 5.5e9, zero}).labels(1e9, 9e9, step)(ps);

test('the axis counts from the start, from the step in view, from a moment, or on the wall clock', () => {
  expect(at('start', 3e9, 1e9)).toBe('2\u202fms');
  expect(at('step', 5.5e9, 1e8)).toBe('+0.5\u202fms');
  expect(at('step', 4.5e9, 1e8)).toBe('−0.5\u202fms');
  expect(at('zero', 3e9, 1e9, 2e9)).toBe('+1\u202fms');
  // 1794000000 s since 1970 are 2026-11-06 21:20:00 UTC; 5 ms later.
  expect(at('utc', 5e9, 1e9)).toBe('21:20:00.128');
  expect(at('utc', 5e9, 1e3)).toBe('21:20:00.128456789');
});

test('without a wall clock, steps or a moment it counts from the start', () => {
  const bare = {t0: 0, t1: 9e9} as unknown as TraceInfo;
  for (const kind of ['utc', 'step', 'zero'])
    expect(clockOf(kind, {info: bare, steps: null, middle: 0, zero: null}).labels(0, 9e9, 1e9)(2e9)).toBe('2\u202fms');
});
