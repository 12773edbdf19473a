import {expect, test} from 'vitest';
import {labelRoom, placesOf, pointAt, pointsIn, sceneOf} from './cloud.ts';
import type {Camera} from './mesh-camera.ts';

const front: Camera = {target: [0, 0, 0], distance: 4, yaw: 0, pitch: 0, fovDegrees: 45};

test('the chosen columns fill the cube, in their own proportions', () => {
  const scene = sceneOf(Float32Array.from([0, 9, 10, 4, 9, 0]), 2, 3, [0, 2, -1]);
  expect([...scene]).toEqual([-0.4000000059604645, 1, 0, 0.4000000059604645, -1, 0]);
  expect([...sceneOf(Float32Array.from([5, 5]), 1, 2, [0, 1])]).toEqual([0, 0, 0]);
});

test('points are found where they are drawn, the nearer one first', () => {
  const scene = Float32Array.from([0, 0, 0, 0, 0, 1, 0.5, 0.5, 0]);
  const places = placesOf(scene, front, 400, 400);
  expect(places.x[0]).toBeCloseTo(200);
  expect(pointAt(places, 200, 200, 5)).toBe(1);
  expect(pointAt(places, 5, 5, 5)).toBe(-1);
  expect(places.x[2]).toBeGreaterThan(200);
  expect(places.y[2]).toBeLessThan(200);
  expect(pointsIn(places, 210, 10, 390, 190)).toEqual([2]);
});

test('labels do not overlap and stay in the picture', () => {
  const room = labelRoom(100, 100);
  expect(room(10, 10, 30, 10)).toBe(true);
  expect(room(20, 12, 30, 10)).toBe(false);
  expect(room(60, 40, 30, 10)).toBe(true);
  expect(room(90, 40, 30, 10)).toBe(false);
});
