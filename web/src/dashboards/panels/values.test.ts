import {describe, expect, it} from 'vitest';
import {barsOf, boxOf, numberOf, pickOf, quantileOf, spanOf, type RunValue} from './values.ts';

const run = (id: number, value: number, last = id): RunValue => ({id, name: `r${id}`, colour: 'red', value, last});
const group = (name: string, values: RunValue[]) => ({name, colour: 'blue', values});

describe('values of panels', () => {
  it('are numbers or missing', () => {
    expect(numberOf(2)).toBe(2);
    expect(numberOf(true)).toBe(1);
    expect(numberOf('adam')).toBeNaN();
    expect(numberOf(undefined)).toBeNaN();
  });
  it('become bars, the largest first, without what is missing', () => {
    const bars = barsOf([group('all', [run(1, 1), run(2, NaN), run(3, 5)])], false);
    expect(bars.map(bar => bar.name)).toEqual(['r3', 'r1']);
  });
  it('become one bar a group: its mean, with the number of runs', () => {
    const bars = barsOf([group('a', [run(1, 1), run(2, 3)]), group('b', [run(3, NaN)])], true);
    expect(bars).toEqual([{key: 'ga', name: 'a', colour: 'blue', value: 2, count: 2, run: null}]);
  });
  it('stand on zero, also when some are negative', () => {
    const bars = barsOf([group('all', [run(1, -1), run(2, 3)])], false);
    expect(spanOf(3, bars)).toEqual({from: 0.25, length: 0.75});
    expect(spanOf(-1, bars)).toEqual({from: 0, length: 0.25});
    expect(spanOf(0, [])).toEqual({from: 0, length: 0});
  });
  it('have quartiles between neighbours', () => {
    expect(quantileOf([1, 2, 3, 4], 0.5)).toBe(2.5);
    expect(boxOf([4, 1, NaN, 3, 2])).toEqual({min: 1, q1: 1.75, median: 2.5, q3: 3.25, max: 4});
    expect(boxOf([NaN])).toBeNull();
  });
  it('are told as one number with its run', () => {
    const values = [run(1, 5, 30), run(2, 3, 20), run(3, NaN, 40)];
    expect(pickOf(values, 'min')).toMatchObject({value: 3, of: {id: 2}, count: 2});
    expect(pickOf(values, 'max')).toMatchObject({value: 5, of: {id: 1}});
    expect(pickOf(values, 'newest')).toMatchObject({value: 5, of: {id: 1}});
    expect(pickOf(values, 'mean')).toEqual({value: 4, of: null, count: 2});
    expect(pickOf([run(3, NaN)], 'min')).toBeNull();
  });
});
