import {expect, it} from 'vitest';
import {bandPieces} from './bands.ts';
import {columnBorders} from './heatmap.ts';
import {inOrder} from './in-order.ts';
import {nearestRun} from './nearest.ts';
import {layoutRidge} from './ridge.ts';

const STEPS = [0, 10, 20, 30, 10, 20];
const series = {
  steps: new Float64Array(STEPS),
  walls: new Float64Array([1, 2, 3, 4, 5, 6]),
  edges: new Float64Array([0, 1, 2]),
  counts: new Float32Array([0, 1, 10, 1, 20, 1, 30, 1, 11, 1, 21, 1]),
  percentiles: new Float32Array(6 * 9).map((_, i) => Math.floor(i / 9)),
  stats: new Float64Array(36),
};

it('steps that go back are put in order and each strand is remembered', () => {
  const {series: put, times, strands} = inOrder(series, series.steps);
  expect([...put.steps]).toEqual([0, 10, 10, 20, 20, 30]);
  expect([...times]).toEqual([0, 10, 10, 20, 20, 30]);
  expect([...put.walls]).toEqual([1, 2, 5, 3, 6, 4]);
  expect([...put.counts].filter((_, i) => i % 2 === 0)).toEqual([0, 10, 11, 20, 21, 30]);
  expect([...put.percentiles].filter((_, i) => i % 9 === 0)).toEqual([0, 1, 4, 2, 5, 3]);
  expect(strands).toEqual([
    [0, 1, 3, 5],
    [2, 4],
  ]);
});

it('rising times are left as they are', () => {
  const same = inOrder(series, series.walls);
  expect(same.series).toBe(series);
  expect(same.strands).toEqual([[0, 1, 2, 3, 4, 5]]);
});

it('nothing of what went back is placed outside its plot', () => {
  const {series: put, times} = inOrder(series, series.steps);
  const {baselines, plane} = layoutRidge(put, {width: 240, height: 300}, times, false, 40);
  for (const y of baselines) expect(y >= plane.top && y <= plane.bottom).toBe(true);
  expect([...columnBorders(times)]).toEqual([-5, 5, 10, 15, 20, 25, 35]);
});

it('bands break where time goes back and where a step has no values', () => {
  const {series: put, times, strands} = inOrder(series, series.steps);
  const percentiles = put.percentiles.slice().fill(NaN, 9, 18);
  expect(bandPieces({colour: '', times, strands, percentiles})).toEqual([[0], [3, 5], [2, 4]]);
  expect(nearestRun(times, 12)).toEqual([1, 3]);
});
