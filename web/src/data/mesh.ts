// Meshes and point clouds of one (run, tag): the steps first, then one step's vertices, faces, colours.
import type {MeshData} from '../draw/mesh-paint.ts';
import {client, numberOf, type AskOptions} from './client.ts';
import {stepList, type StepList} from './media.ts';

export interface MeshList extends StepList {
  readonly samples: number;
  readonly fovDegrees: number; // of the writer's camera; 75 when it gave none
}

interface Wire {
  readonly steps: readonly (number | string)[];
  readonly walls: readonly (number | string)[];
  readonly samples?: number;
  readonly config?: {readonly camera?: {readonly fov?: number}};
}

export async function meshSteps(run: string, tag: string): Promise<MeshList> {
  const answer = await client().get<Wire>('mesh', {run, tag});
  const fov = numberOf(answer.config?.camera?.fov);
  return {...stepList(answer), samples: answer.samples ?? 1, fovDegrees: fov > 1 && fov < 170 ? fov : 75};
}

export async function loadMesh(
  run: string,
  tag: string,
  step: number,
  sample: number,
  options: AskOptions = {},
): Promise<MeshData> {
  const columns = await client().getColumns('mesh', {run, tag, step, sample}, options);
  const [vertex, face, colour] = ['vertex', 'face', 'colour'].map(name => columns.col(name));
  return {
    vertices: vertex instanceof Float32Array ? vertex : new Float32Array(),
    faces: face instanceof Uint32Array ? face : new Uint32Array(),
    colours: colour instanceof Uint8Array ? colour : new Uint8Array(),
  };
}
