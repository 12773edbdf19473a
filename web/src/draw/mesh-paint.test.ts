import {expect, it} from 'vitest';
import {edgesOf, soundFaces} from './mesh-paint.ts';

it('edges are listed once', () => {
  expect([...edgesOf(new Uint32Array([0, 1, 2, 2, 1, 3]), 4)]).toEqual([0, 1, 1, 2, 0, 2, 1, 3, 2, 3]);
});
it('faces that name missing vertices are left out', () => {
  expect([...soundFaces(new Uint32Array([0, 1, 2, 0, 1, 9]), 3)]).toEqual([0, 1, 2]);
  expect([...soundFaces(new Uint32Array([0, 1, 2, 0]), 3)]).toEqual([0, 1, 2]);
  expect([...edgesOf(new Uint32Array([0, 1, 9]), 3)]).toEqual([]);
});
