import {expect, test} from 'vitest';
import {
  columnFormat,
  formatBytes,
  formatCount,
  formatDuration,
  formatValue,
  middleEllipsis,
  sentence,
} from './format.ts';

test('sizes are decimal with three digits', () => {
  expect(formatBytes(17)).toBe('17 B');
  expect(formatBytes(1234)).toBe('1.23 kB');
  expect(formatBytes(2_050_000_000)).toBe('2.05 GB');
});

test('counts are grouped by thousands', () => {
  expect(formatCount(1234567)).toBe('1\u202f234\u202f567');
  expect(formatCount(12)).toBe('12');
});

test('values have four digits, a true minus and an exponent where needed', () => {
  expect([0.49224, 0.0012, -0.0003, 12345.6, 0, NaN, Infinity, -Infinity].map(v => formatValue(v))).toEqual([
    '0.4922',
    '0.0012',
    '−3e−4',
    '1.235e4',
    '0',
    'NaN',
    '∞',
    '−∞',
  ]);
});

test('a column has one format', () => {
  expect([0.4922, 0.5, 12].map(columnFormat([0.4922, 0.5]))).toEqual(['0.4922', '0.5000', '12.0000']);
  expect([1, 24607].map(columnFormat([1, 24607]))).toEqual(['1', '24\u202f607']);
  expect(columnFormat([1e-5, 2e-4])(1e-5)).toBe('1.000e−5');
  expect([-0.00846, 12.5, 0.05].map(columnFormat([-0.00846, 12.5, 0.05], 3))).toEqual(['−0.0085', '12.5', '0.05']);
});

test('durations adapt their unit', () => {
  expect([133.7e-6, 0.1824, 42, 75, 7260, 100800].map(formatDuration)).toEqual([
    '133.7\u202fµs',
    '182.4\u202fms',
    '42\u202fs',
    '1\u202fm 15\u202fs',
    '2\u202fh 01\u202fm',
    '1\u202fd 4\u202fh',
  ]);
});

test('long names keep both ends', () => {
  expect(middleEllipsis('abcdefghij', 5)).toBe('ab…ij');
});

test('a remark becomes a sentence', () => {
  expect(['', 'a record is torn', 'Done.', 'why?'].map(sentence)).toEqual(['', 'A record is torn.', 'Done.', 'Why?']);
  expect(["run 'a' has no mesh", 'vm.xplane.pb is empty', 'b: its shape is not known'].map(sentence)).toEqual([
    "Run 'a' has no mesh.",
    'vm.xplane.pb is empty.',
    'b: its shape is not known.',
  ]);
});
