// Meshes without WebGL: triangles sorted from far to near and filled one by one on a 2-D canvas. Slower,
// good for some ten thousand triangles.
import {type Camera, project, viewProjection} from './mesh-camera.ts';
import {edgesOf, type MeshData, type MeshHandle, type MeshPainter, type MeshStyle, soundFaces} from './mesh-paint.ts';

interface FlatHandle extends MeshHandle {
  readonly data: MeshData;
  readonly faces: Uint32Array;
  readonly edges: Uint32Array;
}

export function createFlatPainter(): MeshPainter {
  return {
    kind: 'canvas',
    prepare(data, radius) {
      const count = Math.floor(data.vertices.length / 3);
      const faces = soundFaces(data.faces, count);
      return {data, faces, edges: edgesOf(faces, count), radius, release: () => undefined} as FlatHandle;
    },
    paint: (handle, target, camera, style) => paintFlat(handle as FlatHandle, target, camera, style),
  };
}

function paintFlat(
  {data, faces, edges, radius}: FlatHandle,
  g: CanvasRenderingContext2D,
  camera: Camera,
  style: MeshStyle,
): void {
  const {width, height} = g.canvas;
  g.fillStyle = `rgb(${style.ground.join(' ')})`;
  g.fillRect(0, 0, width, height);
  if (width === 0 || height === 0) return;
  const m = viewProjection(camera, width / height, radius);
  const count = Math.floor(data.vertices.length / 3);
  const at = new Float32Array(count * 3).fill(NaN); // NaN: behind the eye
  for (let i = 0; i < count; i++) {
    const p = project(m, data.vertices[i * 3]!, data.vertices[i * 3 + 1]!, data.vertices[i * 3 + 2]!, width, height);
    if (p) at.set(p, i * 3);
  }
  const hasColour = data.colours.length >= count * 3 && count > 0;
  const colour = (v: number, light: number): string => {
    const rgb = hasColour ? data.colours.subarray(v * 3, v * 3 + 3) : style.fill;
    return `rgb(${[0, 1, 2].map(c => Math.round(rgb[c]! * light)).join(' ')})`;
  };
  const mode = faces.length === 0 ? 'points' : style.mode;
  if (mode === 'points') {
    const order = sorted(count, i => at[i * 3 + 2]!);
    for (const i of order) {
      g.fillStyle = colour(i, 1);
      g.beginPath();
      g.arc(at[i * 3]!, at[i * 3 + 1]!, style.pointPx / 2, 0, 7);
      g.fill();
    }
    return;
  }
  if (mode === 'solid' || mode === 'both') {
    const depth = (f: number): number =>
      at[faces[f * 3]! * 3 + 2]! + at[faces[f * 3 + 1]! * 3 + 2]! + at[faces[f * 3 + 2]! * 3 + 2]!;
    for (const f of sorted(faces.length / 3, depth)) {
      const v = [faces[f * 3]!, faces[f * 3 + 1]!, faces[f * 3 + 2]!];
      g.fillStyle = colour(v[0]!, 0.45 + 0.55 * lamp(data.vertices, v));
      g.strokeStyle = mode === 'both' ? `rgb(${style.edge.join(' ')})` : g.fillStyle;
      g.lineWidth = 1;
      g.beginPath();
      for (const i of v) g.lineTo(at[i * 3]!, at[i * 3 + 1]!);
      g.closePath();
      g.fill();
      g.stroke();
    }
    return;
  }
  g.lineWidth = 1;
  for (let e = 0; e < edges.length; e += 2) {
    const [a, b] = [edges[e]!, edges[e + 1]!];
    if (!Number.isFinite(at[a * 3]!) || !Number.isFinite(at[b * 3]!)) continue;
    g.strokeStyle = colour(a, 1);
    g.beginPath();
    g.moveTo(at[a * 3]!, at[a * 3 + 1]!);
    g.lineTo(at[b * 3]!, at[b * 3 + 1]!);
    g.stroke();
  }
}

/** Numbers 0…count−1 from far to near; those without a depth are left out. */
function sorted(count: number, depth: (i: number) => number): number[] {
  const out: number[] = [];
  for (let i = 0; i < count; i++) if (Number.isFinite(depth(i))) out.push(i);
  return out.sort((a, b) => depth(b) - depth(a));
}

function lamp(p: Float32Array, [a, b, c]: readonly number[]): number {
  const u = [0, 1, 2].map(k => p[b! * 3 + k]! - p[a! * 3 + k]!) as [number, number, number];
  const w = [0, 1, 2].map(k => p[c! * 3 + k]! - p[a! * 3 + k]!) as [number, number, number];
  const n = [u[1] * w[2] - u[2] * w[1], u[2] * w[0] - u[0] * w[2], u[0] * w[1] - u[1] * w[0]] as const;
  const size = Math.hypot(...n);
  return size > 0 ? Math.abs(-n[1] + 2 * n[2]) / (size * Math.sqrt(5)) : 1;
}
