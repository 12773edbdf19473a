import {expect, test} from 'vitest';
import {arrowHead, edgePath, edgeWidth} from './graph-path.ts';

test('an edge leaves and arrives vertically', () => {
  expect(edgePath([0, 0, 10, 20])).toBe('M0.0 0.0C0.0 10.0 10.0 10.0 10.0 20.0');
  expect(edgePath([1])).toBe('');
});

test('wide tensors draw wide edges, within bounds', () => {
  expect(edgeWidth(1)).toBeLessThan(edgeWidth(1e6));
  expect(edgeWidth(1e30)).toBe(7);
});

test('an arrow points the way the line ends', () => {
  expect(arrowHead([0, 0, 0, 20], 2)).toBe('M0.0 20.0l-3.8 -5.0h7.5z');
  expect(arrowHead([0, 20, 0, 0], 2)).toBe('M0.0 0.0l-3.8 5.0h7.5z');
});
