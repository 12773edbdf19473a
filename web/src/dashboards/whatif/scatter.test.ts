import {describe, expect, it} from 'vitest';
import type {Values} from '../../data/whatif.ts';
import {axisOf, facetsOf, MOST_PANELS, planesOf} from './scatter.ts';

const words = {others: 'others', missing: 'missing'};
const numbers = (values: number[]): Values => ({
  name: 'n',
  kind: 'numeric',
  words: [],
  numbers: Float64Array.from(values),
  codes: null,
});
const texts = (codes: number[], names: string[]): Values => ({
  name: 't',
  kind: 'categorical',
  words: names,
  numbers: null,
  codes: Uint32Array.from(codes),
});

describe('facets', () => {
  it('are one for each word, what is missing last', () => {
    const found = facetsOf(texts([1, 0, 0xffffffff], ['a', 'b']), String, words);
    expect(found.titles).toEqual(['a', 'b', 'missing']);
    expect([...found.of!]).toEqual([1, 0, 2]);
  });
  it('put rare words together', () => {
    const names = Array.from({length: 40}, (_, i) => `w${i}`);
    const found = facetsOf(texts([...names.keys(), 39, 39], names), String, words);
    expect(found.titles).toHaveLength(MOST_PANELS);
    expect(found.titles.at(-1)).toBe('others');
    expect(found.titles).toContain('w39');
  });
  it('cut numbers into ranges, the highest value inside the last', () => {
    const found = facetsOf(numbers([0, 1, 2, 3, 4, 5, 6, 8, NaN]), String, words);
    expect(found.titles).toEqual(['0 \u2013 2', '2 \u2013 4', '4 \u2013 6', '6 \u2013 8', 'missing']);
    expect([...found.of!]).toEqual([0, 0, 1, 1, 2, 2, 3, 3, 4]);
  });
  it('keep few numbers as they are', () => {
    expect(facetsOf(numbers([1, 0, 1]), String, words).titles).toEqual(['0', '1']);
  });
  it('have planes inside the plot', () => {
    const size = {width: 900, height: 500};
    for (const plane of planesOf(5, size, axisOf(undefined), axisOf(undefined))) {
      expect(plane.left).toBeGreaterThanOrEqual(0);
      expect(plane.right).toBeLessThanOrEqual(size.width);
      expect(plane.right).toBeGreaterThan(plane.left);
      expect(plane.bottom).toBeLessThanOrEqual(size.height);
      expect(plane.bottom).toBeGreaterThan(plane.top);
    }
  });
});
