// What lies over the data: crosshair, dots, the hot line, chosen step or range, zoom rectangle. The
// data themselves are never repainted for a pointer move: others fade under a veil, the hot line is
// drawn again on top.
import {paintChart} from './chart-paint.ts';
import {layoutOf, type ChartLayout} from './chart-layout.ts';
import {TICK_FONT} from './chart-layout.ts';
import type {ChartModel, ChartOverlay} from './chart-model.ts';
import type {ThemeColours} from './theme-colours.ts';
import {alpha} from './palette.ts';
import type {Brush} from './brush.ts';
import {formatStep} from '../text/format.ts';

const VEIL = 0.55; // leaves 45 % of the others

export function paintOverlay(
  brush: Brush & CanvasRenderingContext2D,
  model: ChartModel,
  layout: ChartLayout,
  colours: ThemeColours,
  over: ChartOverlay,
): void {
  const {left, right, top, bottom} = layout;
  brush.clearRect(0, 0, layout.width, layout.height);
  const hot = model.series[over.hot];
  if (hot !== undefined && model.series.length > 1) {
    brush.globalAlpha = VEIL;
    brush.fillStyle = colours.surface;
    brush.fillRect(left, top - 2, right - left + 1, bottom - top + 2);
    brush.globalAlpha = 1;
  }
  if (over.step !== null) paintSelection(brush, layout, colours, over.step, over.end);
  if (hot !== undefined) {
    const only: ChartModel = {...model, series: [{...hot, width: 2.25}], labels: false, notes: []};
    for (const _ of paintChart(brush, only, layout, colours, {axisFields: [], bare: true})) void _;
  }
  if (over.cross !== null) {
    const px = Math.round(layout.px(over.cross)) + 0.5;
    if (px >= left && px <= right + 1) {
      brush.strokeStyle = colours.lineStrong;
      brush.lineWidth = 1;
      brush.beginPath();
      brush.moveTo(px, top);
      brush.lineTo(px, bottom);
      brush.stroke();
    }
  }
  for (const dot of over.dots) {
    const series = model.series[dot.series];
    const value = series?.y[dot.index];
    if (series === undefined || value === undefined || !Number.isFinite(value)) continue;
    const py = layoutOf(layout, series).py(value);
    const px = layout.px(series.x[dot.index]!);
    if (py < top - 3 || py > bottom + 1 || px < left - 3 || px > right + 3) continue;
    brush.beginPath();
    brush.arc(px, py, dot.series === over.hot ? 3.5 : 2.5, 0, 7);
    brush.fillStyle = series.colour;
    brush.fill();
    brush.strokeStyle = colours.surface;
    brush.lineWidth = 1;
    brush.stroke();
  }
  if (over.prospect !== null) paintPlate(brush, layout, colours, over.prospect, 0.45);
  for (const plate of [over.step, over.end]) if (plate !== null) paintPlate(brush, layout, colours, plate, 1);
  if (over.box !== null) {
    const {x0, y0, x1, y1} = over.box;
    brush.fillStyle = colours.select;
    brush.fillRect(Math.min(x0, x1), Math.min(y0, y1), Math.abs(x1 - x0), Math.abs(y1 - y0));
    brush.strokeStyle = colours.accent;
    brush.lineWidth = 1;
    brush.strokeRect(
      Math.round(Math.min(x0, x1)) + 0.5,
      Math.round(Math.min(y0, y1)) + 0.5,
      Math.abs(x1 - x0),
      Math.abs(y1 - y0),
    );
  }
}

function paintSelection(
  brush: Brush,
  layout: ChartLayout,
  colours: ThemeColours,
  step: number,
  end: number | null,
): void {
  const clampX = (v: number): number => Math.max(layout.left, Math.min(layout.right, layout.px(v)));
  brush.fillStyle = colours.select;
  if (end !== null) {
    const [a, b] = [clampX(Math.min(step, end)), clampX(Math.max(step, end))];
    brush.fillRect(a, layout.top, b - a, layout.bottom - layout.top);
  }
  brush.fillStyle = colours.accent;
  for (const edge of [step, end]) {
    if (edge === null) continue;
    const px = layout.px(edge);
    if (px >= layout.left - 1 && px <= layout.right + 1)
      brush.fillRect(Math.round(px), layout.top, 1, layout.bottom - layout.top);
  }
}

/** The label of a chosen step on the axis. */
export function plateBox(
  brush: Brush,
  layout: ChartLayout,
  colours: ThemeColours,
  value: number,
): {x: number; y: number; w: number; h: number; text: string} {
  const text = formatStep(value);
  brush.font = `600 ${TICK_FONT}px ${colours.font}`;
  const w = brush.measureText(text).width + 10;
  const x = Math.max(1, Math.min(layout.width - w - 1, layout.px(value) - w / 2));
  return {x, y: layout.bottom + 2, w, h: 16, text};
}

function paintPlate(
  brush: CanvasRenderingContext2D,
  layout: ChartLayout,
  colours: ThemeColours,
  value: number,
  opacity: number,
): void {
  const px = layout.px(value);
  if (px < layout.left - 1 || px > layout.right + 1) return;
  const box = plateBox(brush, layout, colours, value);
  brush.fillStyle = colours.surface; // no tick label shows beside the plate
  brush.fillRect(box.x - 14, layout.bottom + 4, box.w + 28, layout.height - layout.bottom - 4);
  brush.globalAlpha = opacity;
  brush.fillStyle = colours.accent;
  brush.beginPath();
  brush.roundRect(box.x, box.y, box.w, box.h, 3);
  brush.fill();
  brush.globalAlpha = 1;
  brush.fillStyle = opacity < 1 ? alpha(colours.textOnAccent, 0.9) : colours.textOnAccent;
  brush.textAlign = 'center';
  brush.textBaseline = 'middle';
  brush.fillText(box.text, box.x + box.w / 2, box.y + 8.5);
}
