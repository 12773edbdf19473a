import {expect, test} from 'vitest';
import {layoutChart} from './chart-layout.ts';
import type {ChartModel} from './chart-model.ts';
import type {Brush} from './brush.ts';
import type {ThemeColours} from './theme-colours.ts';

const brush = {measureText: () => ({width: 20})} as unknown as Brush;

function fitted(values: readonly number[], tag = 'speed'): readonly [number, number] {
  const y = Float64Array.from(values);
  const model = {
    series: [{x: Float64Array.from(values, (_, i) => i), y, tag, run: 0}],
    xKind: 'step',
    xScale: 'linear',
    yScale: 'linear',
    xView: null,
    yView: null,
    yEnds: null,
    outliers: 0.05,
  } as unknown as ChartModel;
  return layoutChart(model, 300, 200, {font: 'sans-serif'} as ThemeColours, brush).y.domain;
}
const many = (value: (i: number) => number): number[] => Array.from({length: 400}, (_, i) => value(i));

test('an end that takes little room is not cut off', () => {
  const [lo, hi] = fitted(many(i => 2.3 * Math.exp(-i / 60)));
  expect(lo).toBeLessThanOrEqual(0.01);
  expect(hi).toBeGreaterThanOrEqual(2.3);
});

test('outliers that would squeeze the rest are cut off', () => {
  const [, hi] = fitted(
    many(i => (i === 7 ? 1000 : Math.sin(i / 9))),
    'loss',
  );
  expect(hi).toBeLessThan(10);
});
