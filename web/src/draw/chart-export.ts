// A chart as a file for publication: SVG text or PNG bytes, with title, axis titles and legend.
import {layoutChart} from './chart-layout.ts';
import type {ChartModel} from './chart-model.ts';
import {clip, paintChart} from './chart-paint.ts';
import type {ThemeColours} from './theme-colours.ts';
import {createSvgBrush, type Brush} from './brush.ts';

export interface ExportOptions {
  readonly width: number; // px of the picture
  readonly height: number; // of the plot with its axes, without legend
  readonly legend: boolean;
  readonly titles: boolean;
  readonly background: boolean;
}

const ROW = 16;

function legendRows(
  brush: Brush,
  model: ChartModel,
  width: number,
  colours: ThemeColours,
): {label: string; colour: string; dash: readonly number[]; x: number; y: number}[] {
  brush.font = `400 11px ${colours.font}`;
  const out = [];
  let [x, y] = [8, 0];
  for (const series of model.series) {
    const label = clip(brush, series.label, Math.min(width - 40, 360));
    const w = brush.measureText(label).width + 34;
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
  brush: Brush,
  model: ChartModel,
  colours: ThemeColours,
  options: ExportOptions,
  legend: ReturnType<typeof legendRows>,
  total: number,
): void {
  if (options.background) {
    brush.fillStyle = colours.surface;
    brush.fillRect(0, 0, options.width, total);
  }
  const titles = options.titles;
  const layout = layoutChart(
    {...model, labels: false},
    options.width,
    options.height,
    colours,
    brush,
    titles ? {top: 18, bottom: 16, left: 14} : {},
  );
  for (const _ of paintChart(brush, {...model, labels: false}, layout, colours)) void _;
  if (titles) {
    brush.textAlign = 'left';
    brush.textBaseline = 'middle';
    brush.fillStyle = colours.text;
    brush.font = `600 12px ${colours.font}`;
    brush.fillText(clip(brush, model.title, options.width - 20), 8, 11);
    brush.font = `400 11px ${colours.font}`;
    brush.fillStyle = colours.text2;
    brush.textAlign = 'center';
    brush.fillText(model.xTitle, (layout.left + layout.right) / 2, options.height - 8);
    brush.save();
    brush.translate(9, (layout.top + layout.bottom) / 2);
    brush.rotate(-Math.PI / 2);
    brush.fillText(clip(brush, model.title, layout.bottom - layout.top), 0, 0);
    brush.restore();
  }
  for (const row of legend) {
    const y = options.height + row.y + ROW / 2;
    brush.strokeStyle = row.colour;
    brush.lineWidth = 2;
    brush.setLineDash([...row.dash]);
    brush.beginPath();
    brush.moveTo(row.x, y);
    brush.lineTo(row.x + 16, y);
    brush.stroke();
    brush.setLineDash([]);
    brush.font = `400 11px ${colours.font}`;
    brush.textAlign = 'left';
    brush.textBaseline = 'middle';
    brush.fillStyle = colours.text;
    brush.fillText(row.label, row.x + 21, y);
  }
}

function prepare(
  model: ChartModel,
  colours: ThemeColours,
  options: ExportOptions,
): {measure: CanvasRenderingContext2D; legend: ReturnType<typeof legendRows>; total: number} {
  const measure = document.createElement('canvas').getContext('2d');
  if (measure === null) throw new Error('2d canvas is not available');
  const legend = options.legend ? legendRows(measure, model, options.width, colours) : [];
  return {measure, legend, total: options.height + (legend.length > 0 ? legend.at(-1)!.y + ROW + 6 : 0)};
}

export function chartToSvg(model: ChartModel, colours: ThemeColours, options: ExportOptions): string {
  const {measure, legend, total} = prepare(model, colours, options);
  const brush = createSvgBrush(options.width, total, measure);
  paint(brush, model, colours, options, legend, total);
  return brush.finish(model.title);
}

/** `ratio` 1 = one image pixel a CSS pixel; 4 is about 300 dpi in print. */
export function chartToPng(
  model: ChartModel,
  colours: ThemeColours,
  options: ExportOptions,
  ratio: number,
): Promise<Blob> {
  const {legend, total} = prepare(model, colours, options);
  const canvas = document.createElement('canvas');
  canvas.width = Math.round(options.width * ratio);
  canvas.height = Math.round(total * ratio);
  const brush = canvas.getContext('2d')!;
  brush.scale(ratio, ratio);
  paint(brush, model, colours, options, legend, total);
  return new Promise((resolve, reject) =>
    canvas.toBlob(blob => (blob === null ? reject(new Error('the picture is too large')) : resolve(blob)), 'image/png'),
  );
}
