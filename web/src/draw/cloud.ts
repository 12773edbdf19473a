// Geometry of a cloud of points on the screen: scaling into the scene, places in pixels, what lies
// under the pointer or in a rectangle, which labels have room. Numbers in, numbers out.
import type {Camera} from './mesh-camera.ts';
import {viewProjection} from './mesh-camera.ts';

export const SCENE_RADIUS = Math.sqrt(3); // the scene is a cube from −1 to 1

/** Three of the columns of `values`, centred and scaled into the cube; a column below 0 is flat. */
export function sceneOf(values: Float32Array, rows: number, columns: number, axes: readonly number[]): Float32Array {
  const scene = new Float32Array(rows * 3);
  let span = 0;
  const middle = [0, 0, 0];
  for (let a = 0; a < 3; a++) {
    const c = axes[a] ?? -1;
    if (c < 0 || c >= columns) continue;
    let lo = Infinity;
    let hi = -Infinity;
    for (let i = c; i < rows * columns; i += columns) {
      const v = values[i]!;
      if (v < lo) lo = v;
      if (v > hi) hi = v;
    }
    if (!(hi >= lo)) continue;
    middle[a] = (lo + hi) / 2;
    span = Math.max(span, hi - lo);
  }
  const scale = span > 0 ? 2 / span : 1;
  for (let a = 0; a < 3; a++) {
    const c = axes[a] ?? -1;
    if (c < 0 || c >= columns) continue;
    for (let i = 0; i < rows; i++) scene[i * 3 + a] = (values[i * columns + c]! - middle[a]!) * scale;
  }
  return scene;
}

export interface Places {
  readonly x: Float32Array; // CSS pixels; NaN behind the eye
  readonly y: Float32Array;
  readonly depth: Float32Array; // distance from the eye
}

export function placesOf(scene: Float32Array, camera: Camera, width: number, height: number): Places {
  const n = Math.floor(scene.length / 3);
  const m = viewProjection(camera, width / height, SCENE_RADIUS);
  const x = new Float32Array(n);
  const y = new Float32Array(n);
  const depth = new Float32Array(n);
  for (let i = 0; i < n; i++) {
    const px = scene[i * 3]!;
    const py = scene[i * 3 + 1]!;
    const pz = scene[i * 3 + 2]!;
    const w = m[3]! * px + m[7]! * py + m[11]! * pz + m[15]!;
    depth[i] = w;
    x[i] = w > 0 ? (((m[0]! * px + m[4]! * py + m[8]! * pz + m[12]!) / w + 1) / 2) * width : NaN;
    y[i] = w > 0 ? ((1 - (m[1]! * px + m[5]! * py + m[9]! * pz + m[13]!) / w) / 2) * height : NaN;
  }
  return {x, y, depth};
}

/** The point at a pixel: the nearest to the eye among those within `reach`; −1 when there is none. */
export function pointAt(places: Places, px: number, py: number, reach: number): number {
  let best = -1;
  let bestDepth = Infinity;
  const limit = reach * reach;
  for (let i = 0; i < places.x.length; i++) {
    const dx = places.x[i]! - px;
    const dy = places.y[i]! - py;
    const d = dx * dx + dy * dy;
    if (!(d <= limit)) continue;
    // Close to the pointer counts for more than close to the eye.
    const rank = places.depth[i]! + (d / limit) * 2;
    if (rank < bestDepth) {
      bestDepth = rank;
      best = i;
    }
  }
  return best;
}

export function pointsIn(places: Places, x0: number, y0: number, x1: number, y1: number): number[] {
  const [left, right] = x0 < x1 ? [x0, x1] : [x1, x0];
  const [top, bottom] = y0 < y1 ? [y0, y1] : [y1, y0];
  const found: number[] = [];
  for (let i = 0; i < places.x.length; i++) {
    const x = places.x[i]!;
    const y = places.y[i]!;
    if (x >= left && x <= right && y >= top && y <= bottom) found.push(i);
  }
  return found;
}

/** Keeps track of which parts of the picture labels have taken, on a grid of cells. */
export function labelRoom(width: number, height: number): (x: number, y: number, w: number, h: number) => boolean {
  const CELL = 8;
  const columns = Math.ceil(width / CELL) + 1;
  const rows = Math.ceil(height / CELL) + 1;
  const taken = new Uint8Array(columns * rows);
  return (x, y, w, h) => {
    const c0 = Math.floor(x / CELL);
    const c1 = Math.floor((x + w) / CELL);
    const r0 = Math.floor(y / CELL);
    const r1 = Math.floor((y + h) / CELL);
    if (c0 < 0 || r0 < 0 || c1 >= columns || r1 >= rows) return false;
    for (let r = r0; r <= r1; r++) for (let c = c0; c <= c1; c++) if (taken[r * columns + c] === 1) return false;
    for (let r = r0; r <= r1; r++) for (let c = c0; c <= c1; c++) taken[r * columns + c] = 1;
    return true;
  };
}
