// What the images page shows and how; kept in the link. Decoded pictures and their difference are kept here too.
import {pixelsOf} from '../../data/media.ts';
import {difference, type Adjustment, type Channel, type Difference} from '../../draw/image-diff.ts';
import {slice} from '../../state/view.svelte.ts';
import {createCache} from './cache.ts';

export type Mode = 'grid' | 'side' | 'wipe' | 'difference' | 'flicker';

/** Which step a side shows: the cursor's, an end, the one before the cursor's, or a fixed one. */
export type StepChoice = 'cursor' | 'first' | 'last' | 'before' | `=${number}`;

export interface ImagesView {
  filter: string;
  mode: Mode;
  tag: string;
  sample: number;
  a: string; // run names
  b: string;
  aAt: string;
  bAt: string;
  brightness: number;
  contrast: number;
  gamma: number;
  channel: Channel;
  ember: boolean; // grey values on the ember map
  smooth: boolean; // smooth pixels when scaled
  size: 'small' | 'medium' | 'large'; // of the grid's images
  actual: boolean; // one image pixel = one screen pixel
  linkZoom: boolean;
  map: 'signed' | 'magnitude';
}

export const view: ImagesView = slice<ImagesView>('images', {
  filter: '',
  mode: 'grid',
  tag: '',
  sample: 0,
  a: '',
  b: '',
  aAt: 'cursor',
  bAt: 'cursor',
  brightness: 1,
  contrast: 1,
  gamma: 1,
  channel: 'rgb',
  ember: false,
  smooth: false,
  size: 'medium',
  actual: false,
  linkZoom: true,
  map: 'signed',
});

export const adjustment = (): Adjustment => ({
  brightness: view.brightness,
  contrast: view.contrast,
  gamma: view.gamma,
  channel: view.channel,
  falseColour: view.ember,
});

/** Whether pictures are shown as they are. */
export const isUnchanged = (): boolean => simpleAdjustment() && view.brightness === 1 && view.contrast === 1;

/** Whether plain CSS can show the adjustment (animated pictures keep moving). */
export const simpleAdjustment = (): boolean => view.gamma === 1 && view.channel === 'rgb' && !view.ember;

/** Pixels of a picture, decoded once; throws what is the matter with it. */
export const pixels = createCache(pixelsOf, 256 << 20);

let last: {a: ImageData; b: ImageData; found: Difference} | undefined;

/** The difference that the panes and the inspector show: computed once. */
export function differenceOf(a: ImageData, b: ImageData): Difference {
  if (last?.a !== a || last.b !== b) last = {a, b, found: difference(a, b)};
  return last.found;
}

/** Index of the step a side shows, given its step list and the index the cursor means. */
export function chosenIndex(choice: string, steps: Float64Array, atCursor: number): number {
  if (choice === 'first') return steps.length > 0 ? 0 : -1;
  if (choice === 'last') return steps.length - 1;
  if (choice === 'before') return Math.max(steps.length > 0 ? 0 : -1, atCursor - 1);
  if (choice.startsWith('=')) {
    const at = steps.indexOf(Number(choice.slice(1)));
    return at >= 0 ? at : atCursor;
  }
  return atCursor;
}

/** The part of the picture in view: its centre in shares of the picture, and the magnification (1 = fits). */
export interface Zoom {
  readonly x: number;
  readonly y: number;
  readonly scale: number;
}

export const WHOLE: Zoom = {x: 0.5, y: 0.5, scale: 1};
