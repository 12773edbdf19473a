// What the mesh page shows, and the camera that cards share. The shared camera is kept relative to each
// object's own size, so a small scan and a large one are seen from the same side.
import type {Bounds, Camera} from '../../draw/mesh-camera.ts';
import type {MeshMode} from '../../draw/mesh-paint.ts';
import {slice} from '../../state/view.svelte.ts';

export interface MeshView {
  filter: string;
  pov: 'fit' | 'keep' | 'share';
  mode: MeshMode;
  pointPx: number;
  colours: boolean;
}

export const view: MeshView = slice<MeshView>('mesh', {
  filter: '',
  pov: 'fit',
  mode: 'solid',
  pointPx: 4,
  colours: true,
});

let shared = $state.raw<Camera | null>(null); // in units of the object's radius around its centre

export const sharedCamera = {
  get relative(): Camera | null {
    return shared;
  },
  set(camera: Camera, bounds: Bounds): void {
    shared = relativeTo(camera, bounds);
  },
};

export function relativeTo(camera: Camera, {centre, radius}: Bounds): Camera {
  const target = camera.target.map((v, c) => (v - centre[c]!) / radius) as [number, number, number];
  return {...camera, target, distance: camera.distance / radius};
}

export function absoluteOf(camera: Camera, {centre, radius}: Bounds): Camera {
  const target = camera.target.map((v, c) => v * radius + centre[c]!) as [number, number, number];
  return {...camera, target, distance: camera.distance * radius};
}
