import {expect, it} from 'vitest';
import {fitCamera} from '../../draw/mesh-camera.ts';
import {absoluteOf, relativeTo} from './view.svelte.ts';

it('a shared camera sees objects of any size alike', () => {
  const small = {centre: [0, 0, 0], radius: 1} as const;
  const large = {centre: [10, 20, 30], radius: 50} as const;
  expect(absoluteOf(relativeTo(fitCamera(small), small), large)).toEqual(fitCamera(large));
});
