// The camera of the mesh view: an orbit around a target, as plain numbers that can be stored, shared
// between cards and tested. Matrices are column-major, ready for WebGL.

export interface Camera {
  readonly target: readonly [number, number, number];
  readonly distance: number;
  readonly yaw: number; // radians around the up axis (y)
  readonly pitch: number; // radians above the horizon, within ±89°
  readonly fovDegrees: number;
}

export interface Bounds {
  readonly centre: readonly [number, number, number];
  readonly radius: number;
}

const MAX_PITCH = (89 * Math.PI) / 180;

/** Sphere around all finite vertices; radius 1 around the origin when there is none. */
export function boundsOf(vertices: Float32Array): Bounds {
  const lo = [Infinity, Infinity, Infinity];
  const hi = [-Infinity, -Infinity, -Infinity];
  for (let i = 0; i + 2 < vertices.length; i += 3) {
    for (let c = 0; c < 3; c++) {
      const v = vertices[i + c]!;
      if (!Number.isFinite(v)) continue;
      if (v < lo[c]!) lo[c] = v;
      if (v > hi[c]!) hi[c] = v;
    }
  }
  if (lo.some(v => v === Infinity)) return {centre: [0, 0, 0], radius: 1};
  const centre = [0, 1, 2].map(c => (lo[c]! + hi[c]!) / 2) as [number, number, number];
  const radius = Math.hypot(...[0, 1, 2].map(c => (hi[c]! - lo[c]!) / 2));
  return {centre, radius: radius > 0 ? radius : 1};
}

/** A camera that sees the whole sphere in a window of any shape. */
export function fitCamera(bounds: Bounds, fovDegrees = 75): Camera {
  const half = (fovDegrees * Math.PI) / 360;
  return {target: bounds.centre, distance: (bounds.radius * 1.05) / Math.sin(half), yaw: 0.6, pitch: 0.35, fovDegrees};
}

export function orbit(camera: Camera, dx: number, dy: number): Camera {
  const pitch = Math.max(-MAX_PITCH, Math.min(MAX_PITCH, camera.pitch + dy));
  return {...camera, yaw: camera.yaw - dx, pitch};
}

/** factor < 1 comes closer. */
export function dolly(camera: Camera, factor: number): Camera {
  return {...camera, distance: Math.max(1e-9, Math.min(1e12, camera.distance * factor))};
}

/** Moves the target in the picture's plane; dx, dy are shares of the picture's height. */
export function pan(camera: Camera, dx: number, dy: number): Camera {
  const {right, up} = axes(camera);
  const size = 2 * camera.distance * Math.tan((camera.fovDegrees * Math.PI) / 360);
  const target = [0, 1, 2].map(c => camera.target[c]! - right[c]! * dx * size + up[c]! * dy * size);
  return {...camera, target: target as [number, number, number]};
}

interface Axes {
  readonly right: readonly number[];
  readonly up: readonly number[];
  readonly back: readonly number[]; // from the target to the eye
}

export function axes({yaw, pitch}: Camera): Axes {
  const back = [Math.cos(pitch) * Math.sin(yaw), Math.sin(pitch), Math.cos(pitch) * Math.cos(yaw)];
  const right = [Math.cos(yaw), 0, -Math.sin(yaw)];
  const up = [-Math.sin(pitch) * Math.sin(yaw), Math.cos(pitch), -Math.sin(pitch) * Math.cos(yaw)];
  return {right, up, back};
}

export function eyeOf(camera: Camera): [number, number, number] {
  const {back} = axes(camera);
  return [0, 1, 2].map(c => camera.target[c]! + back[c]! * camera.distance) as [number, number, number];
}

/** World to clip space. Near and far planes follow the distance and the size of the scene. */
export function viewProjection(camera: Camera, aspect: number, sceneRadius: number): Float32Array {
  const {right, up, back} = axes(camera);
  const eye = eyeOf(camera);
  const near = Math.max(camera.distance * 1e-3, camera.distance - sceneRadius * 20, 1e-9);
  const far = camera.distance + sceneRadius * 20;
  // A window narrower than high keeps the horizontal angle, so a fitted object stays whole.
  const focal = (1 / Math.tan((camera.fovDegrees * Math.PI) / 360)) * Math.min(1, aspect);
  const sx = focal / aspect;
  const sy = focal;
  const a = -(far + near) / (far - near);
  const b = (-2 * far * near) / (far - near);
  const along = (axis: readonly number[]): number => -(axis[0]! * eye[0] + axis[1]! * eye[1] + axis[2]! * eye[2]);
  const view = [right, up, back];
  const shift = view.map(along);
  const m = new Float32Array(16);
  for (let c = 0; c < 3; c++) {
    m[c * 4] = sx * view[0]![c]!;
    m[c * 4 + 1] = sy * view[1]![c]!;
    m[c * 4 + 2] = a * view[2]![c]!;
    m[c * 4 + 3] = -view[2]![c]!;
  }
  m[12] = sx * shift[0]!;
  m[13] = sy * shift[1]!;
  m[14] = a * shift[2]! + b;
  m[15] = -shift[2]!;
  return m;
}

/** Pixel and depth (−1 near … 1 far) of a point; null behind the eye. */
export function project(
  m: Float32Array,
  x: number,
  y: number,
  z: number,
  width: number,
  height: number,
): [number, number, number] | null {
  const w = m[3]! * x + m[7]! * y + m[11]! * z + m[15]!;
  if (!(w > 0)) return null;
  const cx = (m[0]! * x + m[4]! * y + m[8]! * z + m[12]!) / w;
  const cy = (m[1]! * x + m[5]! * y + m[9]! * z + m[13]!) / w;
  const cz = (m[2]! * x + m[6]! * y + m[10]! * z + m[14]!) / w;
  return [((cx + 1) / 2) * width, ((1 - cy) / 2) * height, cz];
}
