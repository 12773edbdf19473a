// What a link to a projection restores: which vectors, how they are projected, coloured, named, searched,
// where the eye is, what is chosen.
import type {JobKind, Metric} from '../../data/embeddings.ts';
import {slice} from '../../state/view.svelte.ts';

export const DEFAULTS = {
  embedding: '',
  method: 'pca' as JobKind,
  dims: 3,
  sphere: 'auto' as 'auto' | 'on' | 'off',
  seed: 1,
  components: [0, 1, 2] as number[], // of PCA: x, y, z; z −1 = none
  perplexity: 0, // 0 = by the number of points
  rate: 0, // 0 = chosen by the server
  iterations: 1000,
  supervise: 0,
  superviseBy: '',
  ignored: '',
  neighbours: 15,
  minDist: 0.1,
  custom: {column: '', left: '', right: '', up: '', down: '', regex: false} as CustomAxes,
  colour: '',
  categorical: false,
  label: '',
  look: 'points' as 'points' | 'labels' | 'images',
  tint: false, // images in the colours of their points
  search: '',
  searchIn: '',
  regex: false,
  point: -1, // row; −1 = none
  k: 20,
  metric: 'cosine' as Metric,
  picked: [] as number[], // rows chosen by hand or rectangle
  only: [] as number[], // rows that are isolated; empty = all
  camera: [] as number[], // yaw, pitch, distance, x, y, z; empty = fitted
};

export interface CustomAxes {
  column: string;
  left: string;
  right: string;
  up: string;
  down: string;
  regex: boolean;
}

export type ProjectorView = typeof DEFAULTS;
export const view = slice('projector', DEFAULTS);
