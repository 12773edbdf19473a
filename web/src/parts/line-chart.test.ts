import {expect, test} from 'vitest';
import type {ChartModel, ChartSeries} from '../draw/chart-model.ts';
import type {ChartLayout} from '../draw/chart-layout.ts';
import {tipOf} from './line-chart.ts';

const one = (label: string, y: number): ChartSeries => ({
  key: label,
  run: 0,
  tag: 't',
  label,
  colour: '',
  dash: [],
  x: [0, 10],
  y: [y, y],
  exact: true,
  total: 2,
  first: 0,
});
const model: ChartModel = {
  title: 't',
  series: [one('c', 1), one('a', 5), one('b', 3)],
  xKind: 'step',
  xTitle: 'Step',
  xScale: 'linear',
  yScale: 'linear',
  xView: null,
  yView: null,
  outliers: 0,
  ghost: 0,
  labels: false,
};
const layout = {
  left: 0,
  right: 100,
  top: 0,
  bottom: 100,
  px: (x: number) => x * 10,
  py: (y: number) => 100 - y * 10,
} as unknown as ChartLayout;
const nearest = [1, 1, 1];
const order = (sort: Parameters<typeof tipOf>[5], limit = 9) =>
  tipOf(model, layout, nearest, 2, {x: 100, y: 68}, sort, limit)!.rows.map(row => row.label);

test('all sort orders', () => {
  expect(order('name')).toEqual(['a', 'b', 'c']);
  expect(order('ascending')).toEqual(['c', 'b', 'a']);
  expect(order('descending')).toEqual(['a', 'b', 'c']);
  expect(order('nearest_y')).toEqual(['b', 'a', 'c']); // absolute distance: 2 px, 18 px, 22 px
  expect(order('nearest', 2)).toEqual(['a', 'b']);
  expect(order('ascending', 1)).toEqual(['b']); // the hot one is never cut
});

test('a row whose point lies elsewhere says its own place and time', () => {
  const late: ChartSeries = {...one('late', 2), x: [0, 9], wall: [100, 104]};
  const tip = tipOf({...model, series: [one('c', 1), late]}, layout, [1, 1], 0, {x: 100, y: 90}, 'name', 9)!;
  expect(tip.rows.map(row => [row.label, row.away, row.wall])).toEqual([
    ['c', null, null],
    ['late', 9, 104],
  ]);
});
