// Paints point clouds and triangle meshes. One hidden WebGL2 context serves all cards (browsers allow
// only a few contexts), each picture is then copied to the card's own 2-D canvas; without WebGL2 the
// same pictures come from a painter's algorithm. Numbers in, pixels out: cameras and events live elsewhere.
import {linkProgram} from './gl.ts';
import {type Camera, viewProjection} from './mesh-camera.ts';
import {createFlatPainter} from './mesh-flat.ts';

export interface MeshData {
  readonly vertices: Float32Array; // x y z …
  readonly faces: Uint32Array; // i j k …; empty for a point cloud
  readonly colours: Uint8Array; // r g b …; empty when the writer gave none
}

export type MeshMode = 'solid' | 'wire' | 'both' | 'points';
export type Rgb = readonly [number, number, number];

export interface MeshStyle {
  readonly mode: MeshMode;
  readonly pointPx: number; // device pixels
  readonly fill: Rgb; // 0…255, where the data has no colour
  readonly edge: Rgb; // of edges drawn over faces
  readonly ground: Rgb;
}

/** A mesh made ready for painting; opaque to callers. */
export interface MeshHandle {
  readonly radius: number;
  release(): void;
}

export interface MeshPainter {
  readonly kind: 'webgl' | 'canvas';
  prepare(data: MeshData, radius: number): MeshHandle;
  paint(handle: MeshHandle, target: CanvasRenderingContext2D, camera: Camera, style: MeshStyle): void;
}

/** Every edge of the faces once, as pairs of vertex numbers; faces that name missing vertices are left out. */
export function edgesOf(faces: Uint32Array, vertexCount: number): Uint32Array {
  const seen = new Set<number>();
  const out: number[] = [];
  for (let i = 0; i + 2 < faces.length; i += 3) {
    const corners = [faces[i]!, faces[i + 1]!, faces[i + 2]!];
    if (corners.some(v => v >= vertexCount)) continue;
    for (let k = 0; k < 3; k++) {
      const a = Math.min(corners[k]!, corners[(k + 1) % 3]!);
      const b = Math.max(corners[k]!, corners[(k + 1) % 3]!);
      const key = a * vertexCount + b;
      if (seen.has(key)) continue;
      seen.add(key);
      out.push(a, b);
    }
  }
  return Uint32Array.from(out);
}

/** Faces without those that name vertices which do not exist. */
export function soundFaces(faces: Uint32Array, vertexCount: number): Uint32Array {
  const whole = faces.length - (faces.length % 3);
  let sound = whole === faces.length;
  for (let i = 0; sound && i < whole; i++) sound = faces[i]! < vertexCount;
  if (sound) return faces;
  const out: number[] = [];
  for (let i = 0; i < whole; i += 3) {
    const f = faces.subarray(i, i + 3);
    if (f.every(v => v < vertexCount)) out.push(...f);
  }
  return Uint32Array.from(out);
}

let shared: MeshPainter | undefined;

/** The page's one painter: WebGL2 where the browser has it. */
export function meshPainter(): MeshPainter {
  shared ??= createGlPainter() ?? createFlatPainter();
  return shared;
}

const VERTEX = `#version 300 es
uniform mat4 matrix; uniform float pointPx; uniform vec3 plain; uniform float useColour;
layout(location=0) in vec3 position; layout(location=1) in vec3 colour;
out vec3 tint; out vec3 place;
void main() { gl_Position = matrix * vec4(position, 1.0); gl_PointSize = pointPx; tint = mix(plain, colour, useColour); place = position; }`;
// Light as in TensorBoard's default scene: ambient 0.75 and one lamp of 0.75 from (0, −1, 2), both sides lit.
const FRAGMENT = `#version 300 es
precision highp float; uniform float lit; uniform float disc; in vec3 tint; in vec3 place; out vec4 pixel;
void main() {
  if (disc > 0.5 && length(gl_PointCoord - 0.5) > 0.5) discard;
  vec3 normal = normalize(cross(dFdx(place), dFdy(place)));
  float lamp = abs(dot(normal, normalize(vec3(0.0, -1.0, 2.0))));
  pixel = vec4(tint * (lit > 0.5 ? 0.45 + 0.55 * lamp : 1.0), 1.0); // points and lines have no normal: their lamp may be NaN
}`;

interface GlHandle extends MeshHandle {
  readonly array: WebGLVertexArrayObject;
  readonly faces: WebGLBuffer;
  readonly edges: WebGLBuffer;
  readonly counts: {vertices: number; faces: number; edges: number};
  readonly hasColour: boolean;
}

export function createGlPainter(): MeshPainter | null {
  const canvas = document.createElement('canvas');
  const gl = canvas.getContext('webgl2', {antialias: true, alpha: false, preserveDrawingBuffer: true});
  const program = gl && linkProgram(gl, VERTEX, FRAGMENT);
  if (!gl || !program) return null;
  const at = (name: string): WebGLUniformLocation | null => gl.getUniformLocation(program, name);
  const uniform = {
    matrix: at('matrix'),
    pointPx: at('pointPx'),
    plain: at('plain'),
    useColour: at('useColour'),
    lit: at('lit'),
    disc: at('disc'),
  };

  function buffer(kind: number, data: ArrayBufferView<ArrayBuffer>): WebGLBuffer {
    const made = gl!.createBuffer();
    gl!.bindBuffer(kind, made);
    gl!.bufferData(kind, data, gl!.STATIC_DRAW);
    return made;
  }

  function prepare(data: MeshData, radius: number): MeshHandle {
    const count = Math.floor(data.vertices.length / 3);
    const array = gl!.createVertexArray();
    gl!.bindVertexArray(array);
    const own = [buffer(gl!.ARRAY_BUFFER, data.vertices as Float32Array<ArrayBuffer>)];
    gl!.enableVertexAttribArray(0);
    gl!.vertexAttribPointer(0, 3, gl!.FLOAT, false, 0, 0);
    const hasColour = data.colours.length >= count * 3 && count > 0;
    if (hasColour) {
      own.push(buffer(gl!.ARRAY_BUFFER, data.colours as Uint8Array<ArrayBuffer>));
      gl!.enableVertexAttribArray(1);
      gl!.vertexAttribPointer(1, 3, gl!.UNSIGNED_BYTE, true, 0, 0);
    }
    const faceList = soundFaces(data.faces, count);
    const edgeList = edgesOf(faceList, count);
    const faces = buffer(gl!.ELEMENT_ARRAY_BUFFER, faceList as Uint32Array<ArrayBuffer>);
    const edges = buffer(gl!.ELEMENT_ARRAY_BUFFER, edgeList as Uint32Array<ArrayBuffer>);
    gl!.bindVertexArray(null);
    own.push(faces, edges);
    const release = (): void => {
      for (const b of own) gl!.deleteBuffer(b);
      gl!.deleteVertexArray(array);
    };
    return {
      array,
      faces,
      edges,
      counts: {vertices: count, faces: faceList.length, edges: edgeList.length},
      hasColour,
      radius,
      release,
    } as GlHandle;
  }

  function paint(handle: MeshHandle, target: CanvasRenderingContext2D, camera: Camera, style: MeshStyle): void {
    const {array, faces, edges, counts, hasColour, radius} = handle as GlHandle;
    const {width, height} = target.canvas;
    if (width === 0 || height === 0) return;
    // The hidden canvas only grows; a smaller picture uses its lower left corner.
    if (canvas.width < width) canvas.width = width;
    if (canvas.height < height) canvas.height = height;
    gl!.viewport(0, 0, width, height);
    gl!.enable(gl!.DEPTH_TEST);
    gl!.clearColor(style.ground[0] / 255, style.ground[1] / 255, style.ground[2] / 255, 1);
    gl!.clear(gl!.COLOR_BUFFER_BIT | gl!.DEPTH_BUFFER_BIT);
    gl!.useProgram(program);
    gl!.bindVertexArray(array);
    gl!.uniformMatrix4fv(uniform.matrix, false, viewProjection(camera, width / height, radius));
    gl!.uniform1f(uniform.pointPx, style.pointPx);
    const look = (rgb: Rgb, coloured: boolean, lit: boolean, disc: boolean): void => {
      gl!.uniform3f(uniform.plain, rgb[0] / 255, rgb[1] / 255, rgb[2] / 255);
      gl!.uniform1f(uniform.useColour, coloured && hasColour ? 1 : 0);
      gl!.uniform1f(uniform.lit, lit ? 1 : 0);
      gl!.uniform1f(uniform.disc, disc ? 1 : 0);
    };
    const mode = counts.faces === 0 ? 'points' : style.mode;
    if (mode === 'points') {
      look(style.fill, true, false, true);
      gl!.drawArrays(gl!.POINTS, 0, counts.vertices);
    }
    if (mode === 'solid' || mode === 'both') {
      look(style.fill, true, true, false);
      gl!.enable(gl!.POLYGON_OFFSET_FILL);
      gl!.polygonOffset(1, 1);
      gl!.bindBuffer(gl!.ELEMENT_ARRAY_BUFFER, faces);
      gl!.drawElements(gl!.TRIANGLES, counts.faces, gl!.UNSIGNED_INT, 0);
      gl!.disable(gl!.POLYGON_OFFSET_FILL);
    }
    if (mode === 'wire' || mode === 'both') {
      look(mode === 'both' ? style.edge : style.fill, mode === 'wire', false, false);
      gl!.bindBuffer(gl!.ELEMENT_ARRAY_BUFFER, edges);
      gl!.drawElements(gl!.LINES, counts.edges, gl!.UNSIGNED_INT, 0);
    }
    gl!.bindVertexArray(null);
    target.drawImage(canvas, 0, canvas.height - height, width, height, 0, 0, width, height);
  }

  return {kind: 'webgl', prepare, paint};
}
