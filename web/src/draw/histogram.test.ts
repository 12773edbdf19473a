import {describe, expect, it} from 'vitest';
import {binOf, commonRange, equalEdges, quantile, rebin, rebinSeries, shareAtZero, statsOf} from './histogram.ts';

const split = (lefts: number[], rights: number[], counts: number[], edges: number[]): number[] => {
  const out = new Float32Array(edges.length - 1);
  rebin({lefts, rights, counts}, edges, out);
  return [...out];
};

describe('rebin', () => {
  const cases: [string, number[], number[], number[], number[], number[]][] = [
    ['a bucket inside one bin stays whole', [0.1], [0.4], [5], [0, 1, 2], [5, 0]],
    ['a bucket over two bins is split by overlap', [0], [2], [6], [0, 0.5, 2], [1.5, 4.5]],
    ['a point goes to the bin that opens at it', [1], [1], [3], [0, 1, 2], [0, 3]],
    ['a point on the last edge stays in the last bin', [2], [2], [3], [0, 1, 2], [0, 3]],
    ['empty buckets add nothing', [0, 1], [1, 2], [0, 0], [0, 1, 2], [0, 0]],
    ['what lies outside the range is left out', [-4, 0], [-3, 1], [7, 2], [0, 1, 2], [2, 0]],
  ];
  for (const [promise, l, r, c, e, want] of cases) it(promise, () => expect(split(l, r, c, e)).toEqual(want));

  it('keeps the total', () => {
    const lefts = [-3, -1, 0, 0, 2];
    const rights = [-1, 0, 0, 2, 9];
    const counts = [4, 1, 10, 3, 2];
    const sum = split(lefts, rights, counts, [...equalEdges(-3, 9, 30)]).reduce((a, b) => a + b);
    expect(sum).toBeCloseTo(20, 4);
  });
});

describe('commonRange', () => {
  it('opens a range without width', () => {
    expect(commonRange(0, 0)).toEqual([-1, 1]);
    const [lo, hi] = commonRange(11, 11);
    expect(lo).toBeCloseTo(9, 12);
    expect(hi).toBeCloseTo(13.1, 12);
  });
  it('keeps a real range', () => expect(commonRange(-1, 4)).toEqual([-1, 4]));
});

describe('a series', () => {
  const series = {
    steps: new Float64Array([0, 10]),
    walls: new Float64Array([1, 2]),
    edges: new Float64Array([0, 1, 2, 3]),
    counts: new Float32Array([1, 2, 1, 0, 0, 0]),
    percentiles: new Float32Array(),
    stats: new Float64Array([0, 3, 4, 6, 11, 0, NaN, NaN, 0, 0, 0, 2]),
  };
  it('has the mean and deviation of its sums', () => {
    const {mean, deviation, num} = statsOf(series, 0);
    expect([mean, num]).toEqual([1.5, 4]);
    expect(deviation).toBeCloseTo(Math.sqrt(11 / 4 - 2.25), 12);
    expect(statsOf(series, 1).mean).toBeNaN();
    expect(statsOf(series, 1).bad).toBe(2);
  });
  it('finds quantiles inside bins', () => {
    expect(quantile(series, 0, 0.5)).toBe(1.5);
    expect(quantile(series, 0, 0)).toBe(0);
    expect(quantile(series, 0, 1)).toBe(3);
    expect(quantile(series, 1, 0.5)).toBeNaN();
  });
  it('can be cut anew', () => {
    expect([...rebinSeries(series, new Float64Array([0, 3])).counts]).toEqual([4, 0]);
    expect(rebinSeries(series, new Float64Array([0, 1, 2, 3]))).toBe(series);
  });
});

it('binOf is right-open', () => {
  expect([-1, 0, 0.5, 1, 2, 5].map(x => binOf([0, 1, 2], x))).toEqual([0, 0, 0, 1, 1, 1]);
});

describe('share at zero', () => {
  const series = (edges: number[], counts: number[]) => ({
    steps: Float64Array.of(0),
    walls: Float64Array.of(0),
    edges: Float64Array.from(edges),
    counts: Float32Array.from(counts),
    percentiles: new Float32Array(),
    stats: new Float64Array(6),
  });
  it('is that of the bin that holds 0', () => {
    expect(shareAtZero(series([-1, -0.5, 0.5, 1], [1, 6, 1]), 0)).toEqual({share: 0.75, from: -0.5, to: 0.5});
    expect(shareAtZero(series([0, 1, 2], [3, 1]), 0)).toEqual({share: 0.75, from: 0, to: 1});
  });
  it('is none where 0 lies outside, or nothing was counted', () => {
    expect(shareAtZero(series([1, 2, 3], [3, 1]), 0)).toBeNull();
    expect(shareAtZero(series([-1, 1], [0]), 0)).toBeNull();
  });
});
