import {expect, test} from 'vitest';
import type {ChartSeries} from '../../draw/chart-model.ts';
import {troublesOf} from './trouble.ts';

const series = (y: readonly number[], nan?: readonly number[]): ChartSeries => ({
  key: 'k',
  run: 0,
  tag: 'loss',
  label: 'loss',
  colour: '',
  dash: [],
  x: y.map((_, i) => i),
  y,
  nan,
  exact: true,
  total: y.length,
  first: 0,
});

test('a curve that only wanders has no trouble', () => {
  expect(troublesOf(series(Array.from({length: 50}, (_, i) => 2 + Math.sin(i))))).toEqual([]);
});

test('the first NaN and the jump before it are found', () => {
  const values = Array.from({length: 20}, (_, i) => (i === 12 ? 90 : i > 14 ? NaN : 1));
  expect(troublesOf(series(values))).toEqual([
    {kind: 'jump', index: 12},
    {kind: 'nan', index: 15},
  ]);
});

test('a thinned point that hides a NaN counts', () => {
  expect(troublesOf(series([1, 1, 1], [0, 2, 0]))).toEqual([{kind: 'nan', index: 1}]);
});
