// Paints clouds of points: one hidden WebGL2 context, copied to the card's 2-D canvas. Points are round
// discs or cells of a sprite; nearer ones are larger and stronger. Without WebGL2 the same picture comes
// from small squares. Edges are softened by the discs themselves: multisampling would double the cost where
// the browser has no graphics card. A picture whose points, colours, camera and style are the same is not painted again.
import {linkProgram} from './gl.ts';
import {placesOf, SCENE_RADIUS} from './cloud.ts';
import {type Camera, viewProjection} from './mesh-camera.ts';
import type {Rgb} from './mesh-paint.ts';

export interface Cloud {
  readonly scene: Float32Array; // x y z … inside the cube
  readonly rows: Uint32Array; // row of the table of each point: which cell of the sprite
}

export interface Sprite {
  readonly image: CanvasImageSource & {readonly width: number; readonly height: number};
  readonly width: number; // of one cell
  readonly height: number;
}

export interface CloudStyle {
  readonly pointPx: number; // device pixels of a point in the middle of the scene
  readonly ground: Rgb;
  readonly flat: boolean; // 2-D: no depth
  readonly sprite: Sprite | null;
  readonly tinted: boolean; // images in the colours of their points
}

export interface CloudPainter {
  readonly kind: 'webgl' | 'canvas';
  /** colours: r g b a … a byte each; sizes: a byte each, 64 = 1. */
  paint(
    target: CanvasRenderingContext2D,
    cloud: Cloud,
    colours: Uint8Array,
    sizes: Uint8Array,
    camera: Camera,
    style: CloudStyle,
  ): void;
}

const VERTEX = `#version 300 es
uniform mat4 matrix; uniform float pointPx; uniform float distance; uniform float flatness; uniform vec2 cells; uniform float isSprite;
layout(location=0) in vec3 position; layout(location=1) in vec4 colour; layout(location=2) in float size; layout(location=3) in uint row;
out vec4 tint; out float fog; flat out vec2 cell;
void main() {
  gl_Position = matrix * vec4(position, 1.0);
  float near = flatness > 0.5 ? 1.0 : clamp(distance / max(gl_Position.w, 1e-6), 0.3, 4.0);
  gl_PointSize = max(1.5, pointPx * near * size * 4.0);
  fog = flatness > 0.5 ? 0.0 : clamp((gl_Position.w - distance) * 0.28, 0.0, 0.6);
  tint = colour;
  cell = isSprite > 0.5 ? vec2(float(row % uint(cells.x)), float(row / uint(cells.x))) : vec2(0.0);
}`;
const FRAGMENT = `#version 300 es
precision highp float; uniform vec3 ground; uniform sampler2D sheet; uniform vec2 cellShare; uniform float isSprite; uniform float tinting;
in vec4 tint; in float fog; flat in vec2 cell; out vec4 pixel;
void main() {
  vec3 shown = tint.rgb;
  float cover = 1.0;
  if (isSprite > 0.5) {
    vec4 found = texture(sheet, (cell + gl_PointCoord) * cellShare);
    shown = found.rgb * mix(vec3(1.0), tint.rgb, 0.45 * tinting);
    cover = found.a;
  } else {
    cover = 1.0 - smoothstep(0.38, 0.5, length(gl_PointCoord - 0.5));
  }
  if (cover < 0.05) discard;
  pixel = vec4(mix(shown, ground, fog), cover * tint.a);
}`;

let shared: CloudPainter | undefined;

export function cloudPainter(): CloudPainter {
  shared ??= createGlPainter() ?? createFlatPainter();
  return shared;
}

export function createGlPainter(): CloudPainter | null {
  const canvas = document.createElement('canvas');
  const gl = canvas.getContext('webgl2', {antialias: false, alpha: false, preserveDrawingBuffer: true});
  const program = gl && linkProgram(gl, VERTEX, FRAGMENT);
  if (!gl || !program) return null;
  const at = (name: string): WebGLUniformLocation | null => gl.getUniformLocation(program, name);
  const uniform = {
    matrix: at('matrix'),
    pointPx: at('pointPx'),
    distance: at('distance'),
    flatness: at('flatness'),
    cells: at('cells'),
    isSprite: at('isSprite'),
    tinting: at('tinting'),
    ground: at('ground'),
    sheet: at('sheet'),
    cellShare: at('cellShare'),
  };
  const array = gl.createVertexArray();
  const texture = gl.createTexture();
  gl.bindVertexArray(array);
  const buffers = [0, 1, 2, 3].map(place => {
    const made = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, made);
    gl.enableVertexAttribArray(place);
    if (place === 0) gl.vertexAttribPointer(0, 3, gl.FLOAT, false, 0, 0);
    if (place === 1) gl.vertexAttribPointer(1, 4, gl.UNSIGNED_BYTE, true, 0, 0);
    if (place === 2) gl.vertexAttribPointer(2, 1, gl.UNSIGNED_BYTE, true, 0, 0);
    if (place === 3) gl.vertexAttribIPointer(3, 1, gl.UNSIGNED_INT, 0, 0);
    return made;
  });
  const held: (ArrayBufferView | null)[] = [null, null, null, null]; // what each buffer holds
  let sheet: Sprite['image'] | null = null;
  let last: readonly unknown[] = [];

  function fill(place: number, data: ArrayBufferView): void {
    if (held[place] === data) return;
    held[place] = data;
    gl!.bindBuffer(gl!.ARRAY_BUFFER, buffers[place]!);
    gl!.bufferData(gl!.ARRAY_BUFFER, data as ArrayBufferView<ArrayBuffer>, gl!.DYNAMIC_DRAW);
  }
  function useSheet(sprite: Sprite): void {
    if (sheet === sprite.image) return;
    sheet = sprite.image;
    gl!.bindTexture(gl!.TEXTURE_2D, texture);
    gl!.texImage2D(gl!.TEXTURE_2D, 0, gl!.RGBA, gl!.RGBA, gl!.UNSIGNED_BYTE, sprite.image as TexImageSource);
    for (const [what, value] of [
      [gl!.TEXTURE_MIN_FILTER, gl!.LINEAR],
      [gl!.TEXTURE_MAG_FILTER, gl!.NEAREST],
      [gl!.TEXTURE_WRAP_S, gl!.CLAMP_TO_EDGE],
      [gl!.TEXTURE_WRAP_T, gl!.CLAMP_TO_EDGE],
    ] as const)
      gl!.texParameteri(gl!.TEXTURE_2D, what, value);
  }
  return {
    kind: 'webgl',
    paint(target, cloud, colours, sizes, camera, style) {
      const {width, height} = target.canvas;
      if (width === 0 || height === 0) return;
      const now = [
        cloud.scene,
        cloud.rows,
        colours,
        sizes,
        camera,
        style.pointPx,
        style.ground.join(),
        style.flat,
        style.sprite?.image,
        width,
        height,
      ];
      if (now.some((value, i) => value !== last[i])) {
        last = now;
        if (canvas.width < width) canvas.width = width;
        if (canvas.height < height) canvas.height = height;
        gl.viewport(0, 0, width, height);
        gl.clearColor(style.ground[0] / 255, style.ground[1] / 255, style.ground[2] / 255, 1);
        gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
        gl.enable(gl.DEPTH_TEST);
        gl.depthFunc(gl.LEQUAL);
        gl.enable(gl.BLEND);
        gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
        gl.useProgram(program);
        gl.bindVertexArray(array);
        fill(0, cloud.scene);
        fill(1, colours);
        fill(2, sizes);
        fill(3, cloud.rows);
        gl.uniformMatrix4fv(uniform.matrix, false, viewProjection(camera, width / height, SCENE_RADIUS));
        gl.uniform1f(uniform.pointPx, style.pointPx);
        gl.uniform1f(uniform.distance, camera.distance);
        gl.uniform1f(uniform.flatness, style.flat ? 1 : 0);
        gl.uniform3f(uniform.ground, style.ground[0] / 255, style.ground[1] / 255, style.ground[2] / 255);
        gl.uniform1f(uniform.isSprite, style.sprite ? 1 : 0);
        gl.uniform1f(uniform.tinting, style.tinted ? 1 : 0);
        if (style.sprite) {
          useSheet(style.sprite);
          gl.bindTexture(gl.TEXTURE_2D, texture);
          gl.uniform1i(uniform.sheet, 0);
          gl.uniform2f(uniform.cells, Math.max(1, Math.floor(style.sprite.image.width / style.sprite.width)), 1);
          gl.uniform2f(
            uniform.cellShare,
            style.sprite.width / style.sprite.image.width,
            style.sprite.height / style.sprite.image.height,
          );
        }
        gl.drawArrays(gl.POINTS, 0, Math.floor(cloud.scene.length / 3));
        gl.bindVertexArray(null);
      }
      target.drawImage(canvas, 0, canvas.height - height, width, height, 0, 0, width, height);
    },
  };
}

export function createFlatPainter(): CloudPainter {
  return {
    kind: 'canvas',
    paint(target, cloud, colours, sizes, camera, style) {
      const {width, height} = target.canvas;
      target.fillStyle = `rgb(${style.ground.join(' ')})`;
      target.fillRect(0, 0, width, height);
      const {x, y, depth} = placesOf(cloud.scene, camera, width, height);
      const order = Uint32Array.from(depth.keys()).sort((a, b) => depth[b]! - depth[a]!);
      const columns = style.sprite ? Math.max(1, Math.floor(style.sprite.image.width / style.sprite.width)) : 1;
      for (const i of order) {
        const px = (style.pointPx * (sizes[i]! / 64) * (style.flat ? 1 : Math.min(4, camera.distance / depth[i]!))) / 1;
        if (style.sprite) {
          const {image, width: w, height: h} = style.sprite;
          const row = cloud.rows[i]!;
          target.drawImage(
            image,
            (row % columns) * w,
            Math.floor(row / columns) * h,
            w,
            h,
            x[i]! - px / 2,
            y[i]! - px / 2,
            px,
            px,
          );
        } else {
          target.fillStyle = `rgb(${colours[i * 4]} ${colours[i * 4 + 1]} ${colours[i * 4 + 2]} / ${colours[i * 4 + 3]! / 255})`;
          target.fillRect(x[i]! - px / 2, y[i]! - px / 2, px, px);
        }
      }
    },
  };
}
