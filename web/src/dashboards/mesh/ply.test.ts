import {expect, it} from 'vitest';
import {plyOf} from './ply.ts';

it('a triangle as PLY', () => {
  const text = plyOf({
    vertices: new Float32Array([0, 0, 0, 1, 0, 0, 0, 1.5, 0]),
    faces: new Uint32Array([0, 1, 2]),
    colours: new Uint8Array([255, 0, 0, 0, 255, 0, 0, 0, 255]),
  });
  expect(text.split('end_header\n')[1]).toBe('0 0 0 255 0 0\n1 0 0 0 255 0\n0 1.5 0 0 0 255\n3 0 1 2\n');
  expect(text).toContain('element vertex 3');
  expect(
    plyOf({vertices: new Float32Array([1, 2, 3]), faces: new Uint32Array(), colours: new Uint8Array()}),
  ).not.toContain('face');
});
