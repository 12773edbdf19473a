import {expect, test} from 'vitest';
import {mapCells, rangeOf} from './digests.ts';

test('a map is floats in base64', () => {
  const bytes = new Uint8Array(new Float32Array([1, NaN, 2.5, 4]).buffer);
  const dur_ms = btoa(String.fromCharCode(...bytes));
  expect([...mapCells({rows: 2, columns: 2, dur_ms})]).toEqual([1, NaN, 2.5, 4]);
});

test('the cells of a map share out all ranks, each to one', () => {
  for (const [cells, all] of [
    [4, 4],
    [512, 4096],
    [512, 1000],
    [3, 7],
  ] as const) {
    const seen = new Array<number>(all).fill(-1);
    for (let rank = 0; rank < all; rank++) seen[rank] = Math.floor((rank * cells) / all);
    for (let cell = 0; cell < cells; cell++) {
      const [from, to] = rangeOf(cell, cells, all);
      for (let rank = from; rank < to; rank++) expect(seen[rank]).toBe(cell);
    }
  }
});
