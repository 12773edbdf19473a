import {expect, test} from 'vitest';
import {csvOf, rowFilter} from './filter.ts';
import type {ReportColumn} from '../../data/profile.ts';

const columns: readonly ReportColumn[] = [
  {id: 'op', label: 'Operation', type: 'string'},
  {id: 'total', label: 'Total', type: 'number'},
];
const rows = [
  ['MatMul/a', 5],
  ['Conv2D', 20],
  ['matmul b', [7, 3]],
] as const;
const kept = (text: string): unknown[] => rows.filter(rowFilter(text, columns)).map(row => row[0]);

test('words, expressions and bounds', () => {
  expect(kept('')).toHaveLength(3);
  expect(kept('matmul')).toEqual(['MatMul/a', 'matmul b']);
  expect(kept('/^conv/')).toEqual(['Conv2D']);
  expect(kept('total>6')).toEqual(['Conv2D', 'matmul b']); // of a pair the own value counts
  expect(kept('matmul total<6')).toEqual(['MatMul/a']);
  expect(kept('op=conv2d')).toEqual(['Conv2D']);
  expect(kept('/(/')).toHaveLength(3); // half typed
});

test('cells with commas and quotes are quoted', () => {
  expect(csvOf(['a', 'b'], [['x,"y"', null]])).toBe('a,b\r\n"x,""y""",\r\n');
});
