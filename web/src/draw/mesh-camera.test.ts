import {expect, it} from 'vitest';
import {boundsOf, dolly, eyeOf, fitCamera, orbit, pan, project, viewProjection} from './mesh-camera.ts';

const cube = new Float32Array([...'01'].flatMap(x => [...'01'].flatMap(y => [...'01'].flatMap(z => [+x, +y, +z]))));

it('bounds ignore what is not finite', () => {
  expect(boundsOf(new Float32Array([0, 0, 0, NaN, 9, Infinity, 2, 0, 0])).centre[0]).toBe(1);
  expect(boundsOf(new Float32Array())).toEqual({centre: [0, 0, 0], radius: 1});
});

it('a fitted camera sees every corner, in any window and from any side', () => {
  const bounds = boundsOf(cube);
  for (const [w, h] of [
    [400, 300],
    [100, 500],
    [800, 90],
  ] as const) {
    for (let turn = 0; turn < 12; turn++) {
      const camera = orbit(fitCamera(bounds), turn, turn / 10 - 0.5);
      const m = viewProjection(camera, w / h, bounds.radius);
      for (let i = 0; i < cube.length; i += 3) {
        const p = project(m, cube[i]!, cube[i + 1]!, cube[i + 2]!, w, h)!;
        expect(p[0] >= 0 && p[0] <= w && p[1] >= 0 && p[1] <= h && Math.abs(p[2]) <= 1).toBe(true);
      }
    }
  }
});

it('the target is in the middle and nearer things have less depth', () => {
  const camera = fitCamera({centre: [1, 2, 3], radius: 1});
  const m = viewProjection(camera, 2, 1);
  const [x, y, depth] = project(m, 1, 2, 3, 200, 100)!;
  expect([x, y].map(Math.round)).toEqual([100, 50]);
  const eye = eyeOf(camera);
  const half = [0, 1, 2].map(c => (eye[c]! + camera.target[c]!) / 2);
  expect(project(m, half[0]!, half[1]!, half[2]!, 200, 100)![2]).toBeLessThan(depth);
  expect(project(m, 2 * eye[0] - 1, 2 * eye[1] - 2, 2 * eye[2] - 3, 200, 100)).toBeNull();
});

it('pitch stops before the pole, dolly and pan move as told', () => {
  const camera = fitCamera({centre: [0, 0, 0], radius: 1});
  expect(orbit(camera, 0, 99).pitch).toBeLessThan(Math.PI / 2);
  expect(dolly(camera, 0.5).distance).toBeCloseTo(camera.distance / 2, 9);
  const m = viewProjection(pan(camera, 0.25, 0), 1, 1);
  expect(project(m, 0, 0, 0, 100, 100)![0]).toBeCloseTo(75, 3);
});
