// Thousands of lines between axes as pixels: accumulated in plain memory, because a canvas that strokes ten
// thousand curves blocks the page for seconds. Premultiplied floats; the last step writes an image.

export interface Raster {
  /** One line through the points (device pixels); blended over what is there. */
  line(y: Float64Array, colour: readonly [number, number, number], alpha: number): void;
  blit(g: CanvasRenderingContext2D): void;
}

/** `x`: the axes in device pixels; `bend`: how far up a curve is at a share of a gap. */
export function createRaster(
  width: number,
  height: number,
  x: readonly number[],
  thickness: number,
  bend: (share: number) => number,
): Raster {
  const pixels = new Float32Array(width * height * 4);
  const first = Math.max(0, Math.round(x[0]!));
  const end = Math.min(width - 1, Math.round(x[x.length - 1]!));
  const gap = new Uint16Array(end + 1); // by column
  const share = new Float32Array(end + 1);
  for (let c = first, k = 0; c <= end; c++) {
    while (k < x.length - 2 && c > x[k + 1]!) k++;
    gap[c] = k;
    share[c] = bend(Math.max(0, Math.min(1, (c - x[k]!) / (x[k + 1]! - x[k]! || 1))));
  }
  const half = thickness / 2;
  return {
    line: (y, [r, g, b], alpha) => {
      let before = y[0]!;
      for (let c = first; c <= end; c++) {
        const k = gap[c]!;
        const now = y[k]! + (y[k + 1]! - y[k]!) * share[c]!;
        const top = (before < now ? before : now) - half;
        const bottom = (before < now ? now : before) + half;
        before = now;
        const last = Math.min(height - 1, Math.floor(bottom));
        for (let j = Math.max(0, Math.floor(top)); j <= last; j++) {
          const a = alpha * ((bottom < j + 1 ? bottom : j + 1) - (top > j ? top : j));
          const at = (j * width + c) * 4;
          const keep = 1 - a;
          pixels[at] = pixels[at]! * keep + r * a;
          pixels[at + 1] = pixels[at + 1]! * keep + g * a;
          pixels[at + 2] = pixels[at + 2]! * keep + b * a;
          pixels[at + 3] = pixels[at + 3]! * keep + a;
        }
      }
    },
    blit: g => {
      const image = g.createImageData(width, height);
      const out = image.data;
      for (let i = 0; i < pixels.length; i += 4) {
        const a = pixels[i + 3]!;
        if (a <= 0) continue;
        out[i] = pixels[i]! / a;
        out[i + 1] = pixels[i + 1]! / a;
        out[i + 2] = pixels[i + 2]! / a;
        out[i + 3] = a * 255;
      }
      g.putImageData(image, 0, 0);
    },
  };
}
