import {expect, test} from 'vitest';
import {decodeColumns, encodeColumns} from './columns.ts';

test('columns come back as views, cut by series', () => {
  const bytes = encodeColumns(
    {series: {run: [3, 5], tag: [0, 0], n: [2, 1], total: [2, 900], exact: [1, 0], first: [1.5, 2]}},
    {
      x: {t: 'f64', data: Float64Array.of(0, 1, 7)},
      min: {t: 'f32', data: Float32Array.of(0.5, NaN, 3)},
      count: {t: 'u32', data: Uint32Array.of(1, 1, 900)},
    },
  );
  const columns = decodeColumns(bytes);
  expect(columns.series.map(s => [s.run, s.offset, s.n, s.exact, s.total])).toEqual([
    [3, 0, 2, true, 2],
    [5, 2, 1, false, 900],
  ]);
  expect([...columns.part('x', columns.series[1]!)!]).toEqual([7]);
  expect(columns.part('min', columns.series[0]!)![1]).toBeNaN();
  expect(columns.col('mean')).toBeUndefined();
});

test('a cut answer is refused with its place', () => {
  const bytes = encodeColumns({}, {x: {t: 'f64', data: Float64Array.of(0, 1)}});
  expect(() => decodeColumns(bytes.slice(0, -8))).toThrow('column x lies outside');
  expect(() => decodeColumns(new ArrayBuffer(4))).toThrow('SND1');
});
