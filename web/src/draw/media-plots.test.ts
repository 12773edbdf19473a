import {describe, expect, it} from 'vitest';
import {bandRange, pickBands} from './bands.ts';
import {columnBorders, heatShare, pickHeat} from './heatmap.ts';
import {outlineRange, pickOutline} from './histogram-lines.ts';
import {atX, type Plane, roundTicks, xOf} from './plane.ts';
import {averagePrecision, pickPr} from './pr-curve.ts';
import {layoutRidge, pickRidge} from './ridge.ts';
import {waveTimeAt} from './waveform.ts';

const series = {
  steps: new Float64Array([0, 10, 40]),
  walls: new Float64Array([1, 2, 3]),
  edges: new Float64Array([0, 1, 2, 3, 4]),
  counts: new Float32Array([1, 2, 1, 0, 0, 4, 0, 0, 2, 2, 2, 2]),
  percentiles: new Float32Array(),
  stats: new Float64Array(18),
};
const plane: Plane = {left: 0, right: 100, top: 0, bottom: 100, x0: 0, x1: 1, y0: 0, y1: 1};

describe('plane', () => {
  it('has round ticks inside the range', () => {
    expect(roundTicks(-1, 1, 10).map(v => v.toFixed(1))).toEqual([
      '-1.0',
      '-0.8',
      '-0.6',
      '-0.4',
      '-0.2',
      '0.0',
      '0.2',
      '0.4',
      '0.6',
      '0.8',
      '1.0',
    ]);
    expect(roundTicks(0, 97, 5)).toEqual([0, 20, 40, 60, 80]);
    expect(roundTicks(3, 3, 5)).toEqual([3]);
    expect(roundTicks(0.5, 0.5 + 2 ** -53, 5)).toEqual([0.5]); // nothing but rounding: never endless
    expect(roundTicks(NaN, NaN, 5)).toEqual([]);
  });
  it('pixel and value are inverse', () => expect(atX(plane, xOf(plane, 0.37))).toBeCloseTo(0.37, 12));
});

describe('ridge', () => {
  const layout = layoutRidge(series, {width: 240, height: 300}, series.steps, false, 40);
  it('places slices along time, the newest at the bottom', () => {
    const [a, b, c] = layout.baselines;
    expect((b! - a!) / (c! - a!)).toBeCloseTo(0.25, 9);
    expect(c).toBe(275);
  });
  it('the tallest cell is one slice high', () => expect(Math.max(...layout.heights)).toBe(62));
  it('picks the front slice and the bin', () => {
    const bin = 2;
    const x = layout.plane.left + ((bin + 0.5) / 4) * (layout.plane.right - layout.plane.left);
    expect(pickRidge(layout, x, layout.baselines[2]! - 5)).toEqual({step: 2, bin});
    expect(pickRidge(layout, x, 0)).toBeNull();
  });
  it('density makes every step count the same', () => {
    const d = layoutRidge(series, {width: 240, height: 300}, series.steps, true, 40);
    expect([d.heights[5], d.heights[1], d.heights[8]].map(h => +h!.toFixed(3))).toEqual([62, 31, 15.5]);
  });
});

describe('heat map', () => {
  it('columns meet half way', () => {
    expect([...columnBorders(series.steps)]).toEqual([-5, 5, 25, 55]);
    expect([...columnBorders(new Float64Array([7]))]).toEqual([6.5, 7.5]);
  });
  it('log colour lifts small counts and keeps the ends', () => {
    expect([heatShare(0, 9, true), heatShare(9, 9, true), heatShare(9, 9, false)]).toEqual([0, 1, 1]);
    expect(heatShare(1, 100, true)).toBeGreaterThan(heatShare(1, 100, false));
  });
  it('picks cells', () => {
    const layout = {plane: {...plane, y1: 4}, borders: new Float64Array([0, 10, 40, 100]), bins: 4};
    expect(pickHeat(layout, series, 50, 99)).toEqual({step: 2, bin: 0});
    expect(pickHeat(layout, series, 5, 1)).toEqual({step: 0, bin: 3});
    expect(pickHeat(layout, series, 105, 1)).toBeNull();
  });
});

it('bands cover all percentiles and pick the nearest step', () => {
  const band = {
    colour: 'x',
    strands: [[0, 1]],
    times: new Float64Array([0, 8]),
    percentiles: new Float32Array([...Array(9).keys(), ...Array(9).fill(NaN)]),
  };
  const range = bandRange([band]);
  expect([range.x0, range.x1, range.y0 < 0, range.y1 > 8]).toEqual([0, 8, true, true]);
  expect(pickBands({...plane, ...range}, [band], 70, 50)).toBe(8);
  expect(pickBands({...plane, ...range}, [band], 170, 50)).toBeNull();
});

it('outlines share one range and are picked by height', () => {
  const edges = new Float64Array([0, 1, 2]);
  const line = (h: number[]) => ({colour: 'x', dash: [], strong: false, edges, heights: new Float32Array(h)});
  const lines = [line([1, 1]), line([4, 2])];
  const range = outlineRange(lines);
  expect(range.y1).toBeCloseTo(4.2, 6);
  expect(pickOutline({...plane, ...range}, lines, 20, 8)).toEqual({line: 1, bin: 0});
  expect(pickOutline({...plane, ...range}, lines, 80, 80)).toEqual({line: 0, bin: 1});
});

describe('precision and recall', () => {
  it('average precision is the step-wise area', () => {
    expect(averagePrecision([0.5, 0.75, 1], [1, 0.5, 0.25])).toBeCloseTo(0.5 * 0.5 + 0.25 * 0.75 + 0.25, 12);
    expect(averagePrecision([1], [1])).toBe(1);
    expect(averagePrecision([], [])).toBeNaN();
  });
  it('picks the nearest point', () => {
    const curve = {colour: 'x', dash: [], thresholds: [0, 1], precision: [0.5, 1], recall: [1, 0]};
    expect(pickPr(plane, [curve], 95, 55)).toEqual({curve: 0, index: 0});
    expect(pickPr(plane, [curve], 50, 50)).toBeNull();
  });
});

it('a wave is sought by pixel', () => {
  expect([waveTimeAt(8, 116, 2), waveTimeAt(58, 116, 2), waveTimeAt(999, 116, 2)]).toEqual([0, 1, 2]);
});
