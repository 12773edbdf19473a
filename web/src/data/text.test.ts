import {expect, it} from 'vitest';
import {rowsOf} from './text.ts';

it('cells become rows by their rank', () => {
  const item = (shape: number[], cells: string[]) => ({index: 0, step: 0, wall: 0, shape, cells});
  expect(rowsOf(item([], ['a']))).toEqual([['a']]);
  expect(rowsOf(item([2], ['a', 'b']))).toEqual([['a'], ['b']]);
  expect(rowsOf(item([2, 2], ['a', 'b', 'c', 'd']))).toEqual([
    ['a', 'b'],
    ['c', 'd'],
  ]);
  expect(rowsOf(item([1, 2, 2], ['a', 'b', 'c', 'd'])).length).toBe(4);
  expect(rowsOf(item([0, 2], []))).toEqual([]);
});
