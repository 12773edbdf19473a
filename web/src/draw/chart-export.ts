// A chart as a file for publication: SVG text or PNG bytes, with title, axis titles and legend.
import {layoutChart} from './chart-layout.ts';
import type {ChartModel} from './chart-model.ts';
import {clip, paintChart} from './chart-paint.ts';
import type {Ink} from './ink.ts';
import {createSvgPen, type Pen} from './pen.ts';

export interface ExportOptions {
  readonly width: number; // px of the picture
  readonly height: number; // of the plot with its axes, without legend
  readonly legend: boolean;
  readonly titles: boolean;
  readonly background: boolean;
}

const ROW = 16;

function legendRows(
  pen: Pen,
  model: ChartModel,
  width: number,
  ink: Ink,
): {label: string; colour: string; dash: readonly number[]; x: number; y: number}[] {
  pen.font = `400 11px ${ink.font}`;
  const out = [];
  let [x, y] = [8, 0];
  for (const series of model.series) {
    const label = clip(pen, series.label, Math.min(width - 40, 360));
    const w = pen.measureText(label).width + 34;
    if (x > 8 && x + w > width - 8) {
      x = 8;
      y += ROW;
    }
    out.push({label, colour: series.colour, dash: series.dash, x, y});
    x += w;
  }
  return out;
}

function paint(
  pen: Pen,
  model: ChartModel,
  ink: Ink,
  options: ExportOptions,
  legend: ReturnType<typeof legendRows>,
  total: number,
): void {
  if (options.background) {
    pen.fillStyle = ink.surface;
    pen.fillRect(0, 0, options.width, total);
  }
  const titles = options.titles;
  const layout = layoutChart(
    {...model, labels: false},
    options.width,
    options.height,
    ink,
    pen,
    titles ? {top: 18, bottom: 16, left: 14} : {},
  );
  for (const _ of paintChart(pen, {...model, labels: false}, layout, ink)) void _;
  if (titles) {
    pen.textAlign = 'left';
    pen.textBaseline = 'middle';
    pen.fillStyle = ink.text;
    pen.font = `600 12px ${ink.font}`;
    pen.fillText(clip(pen, model.title, options.width - 20), 8, 11);
    pen.font = `400 11px ${ink.font}`;
    pen.fillStyle = ink.text2;
    pen.textAlign = 'center';
    pen.fillText(model.xTitle, (layout.left + layout.right) / 2, options.height - 8);
    pen.save();
    pen.translate(9, (layout.top + layout.bottom) / 2);
    pen.rotate(-Math.PI / 2);
    pen.fillText(clip(pen, model.title, layout.bottom - layout.top), 0, 0);
    pen.restore();
  }
  for (const row of legend) {
    const y = options.height + row.y + ROW / 2;
    pen.strokeStyle = row.colour;
    pen.lineWidth = 2;
    pen.setLineDash([...row.dash]);
    pen.beginPath();
    pen.moveTo(row.x, y);
    pen.lineTo(row.x + 16, y);
    pen.stroke();
    pen.setLineDash([]);
    pen.font = `400 11px ${ink.font}`;
    pen.textAlign = 'left';
    pen.textBaseline = 'middle';
    pen.fillStyle = ink.text;
    pen.fillText(row.label, row.x + 21, y);
  }
}

function prepare(
  model: ChartModel,
  ink: Ink,
  options: ExportOptions,
): {measure: CanvasRenderingContext2D; legend: ReturnType<typeof legendRows>; total: number} {
  const measure = document.createElement('canvas').getContext('2d');
  if (measure === null) throw new Error('2d canvas is not available');
  const legend = options.legend ? legendRows(measure, model, options.width, ink) : [];
  return {measure, legend, total: options.height + (legend.length > 0 ? legend.at(-1)!.y + ROW + 6 : 0)};
}

export function chartToSvg(model: ChartModel, ink: Ink, options: ExportOptions): string {
  const {measure, legend, total} = prepare(model, ink, options);
  const pen = createSvgPen(options.width, total, measure);
  paint(pen, model, ink, options, legend, total);
  return pen.finish(model.title);
}

/** `ratio` 1 = one image pixel a CSS pixel; 4 is about 300 dpi in print. */
export function chartToPng(model: ChartModel, ink: Ink, options: ExportOptions, ratio: number): Promise<Blob> {
  const {legend, total} = prepare(model, ink, options);
  const canvas = document.createElement('canvas');
  canvas.width = Math.round(options.width * ratio);
  canvas.height = Math.round(total * ratio);
  const pen = canvas.getContext('2d')!;
  pen.scale(ratio, ratio);
  paint(pen, model, ink, options, legend, total);
  return new Promise((resolve, reject) =>
    canvas.toBlob(blob => (blob === null ? reject(new Error('the picture is too large')) : resolve(blob)), 'image/png'),
  );
}
