// The picture as a file: a self-contained SVG with the colours of the theme, or that drawn as PNG.
const NAMES = [
  'fill',
  'fill-opacity',
  'stroke',
  'stroke-width',
  'stroke-opacity',
  'stroke-dasharray',
  'font-size',
  'font-family',
  'font-weight',
  'text-anchor',
  'opacity',
];

export interface Extent {
  readonly width: number;
  readonly height: number;
}

export function svgOf(drawing: SVGSVGElement, extent: Extent, background: string): string {
  const copy = drawing.cloneNode(true) as SVGSVGElement;
  const [w, h] = [Math.ceil(extent.width + 40), Math.ceil(extent.height + 40)];
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  copy.setAttribute('viewBox', `-20 -20 ${w} ${h}`);
  copy.setAttribute('width', String(w));
  copy.setAttribute('height', String(h));
  copy.querySelector('g.world')?.removeAttribute('transform');
  const shapes = 'rect, path, text, circle, g.node';
  const [from, to] = [drawing.querySelectorAll(shapes), copy.querySelectorAll(shapes)];
  from.forEach((element, i) => {
    const style = getComputedStyle(element);
    to[i]!.removeAttribute('style');
    for (const name of NAMES) to[i]!.setAttribute(name, style.getPropertyValue(name));
  });
  const paper = document.createElementNS('http://www.w3.org/2000/svg', 'rect');
  for (const [name, value] of Object.entries({x: -20, y: -20, width: w, height: h, fill: background}))
    paper.setAttribute(name, String(value));
  copy.prepend(paper);
  return new XMLSerializer().serializeToString(copy);
}

/** Twice the size on screen, at most 8000 px a side: what browsers can draw. */
export async function pngOf(svg: string, extent: Extent): Promise<Blob> {
  const [w, h] = [extent.width + 40, extent.height + 40];
  const scale = Math.min(2, 8000 / Math.max(w, h));
  const address = URL.createObjectURL(new Blob([svg], {type: 'image/svg+xml'}));
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const canvas = document.createElement('canvas');
    canvas.width = Math.max(1, Math.round(w * scale));
    canvas.height = Math.max(1, Math.round(h * scale));
    canvas.getContext('2d')!.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((resolve, reject) =>
      canvas.toBlob(
        blob => (blob === null ? reject(new Error('the picture is too large to draw')) : resolve(blob)),
        'image/png',
      ),
    );
  } finally {
    URL.revokeObjectURL(address);
  }
}
