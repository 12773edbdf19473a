import {expect, test} from 'vitest';
import {formatBytes, formatCount} from './format.ts';

test('sizes are decimal with three digits', () => {
  expect(formatBytes(17)).toBe('17 B');
  expect(formatBytes(1234)).toBe('1.23 kB');
  expect(formatBytes(2_050_000_000)).toBe('2.05 GB');
});

test('counts are grouped by thousands', () => {
  expect(formatCount(1234567)).toBe('1\u202f234\u202f567');
  expect(formatCount(12)).toBe('12');
});
