import {expect, test} from 'vitest';
import {edgePath, edgeWidth} from './graph-path.ts';

test('an edge leaves and arrives vertically', () => {
  expect(edgePath([0, 0, 10, 20])).toBe('M0.0 0.0C0.0 10.0 10.0 10.0 10.0 20.0');
  expect(edgePath([1])).toBe('');
});

test('wide tensors draw wide edges, within bounds', () => {
  expect(edgeWidth(1)).toBeLessThan(edgeWidth(1e6));
  expect(edgeWidth(1e30)).toBe(7);
});
