import {describe, expect, test} from 'vitest';
import {nearestPoint, pointsInside} from './point-raster.ts';

const points = {x: Float32Array.from([0, 10, 20, NaN]), y: Float32Array.from([0, 10, 20, 5])};

describe('points', () => {
  test('the nearest within reach', () => {
    expect(nearestPoint(points, 11, 10, 5)).toBe(1);
    expect(nearestPoint(points, 15.5, 15.5, 3)).toBe(-1);
  });
  test('inside a closed line', () => {
    expect(
      pointsInside(points, [
        [5, 5],
        [25, 5],
        [25, 25],
        [5, 25],
      ]),
    ).toEqual([1, 2]);
    expect(
      pointsInside(points, [
        [0, 0],
        [5, 5],
      ]),
    ).toEqual([]);
  });
});
