// What lies over the data: crosshair, dots, the hot line, chosen step or range, zoom rectangle. The
// data themselves are never repainted for a pointer move: others fade under a veil, the hot line is
// drawn again on top.
import {paintChart} from './chart-paint.ts';
import type {ChartLayout} from './chart-layout.ts';
import {TICK_FONT} from './chart-layout.ts';
import type {ChartModel, ChartOverlay} from './chart-model.ts';
import type {Ink} from './ink.ts';
import {alpha} from './palette.ts';
import type {Pen} from './pen.ts';
import {formatStep} from '../text/format.ts';

const VEIL = 0.55; // leaves 45 % of the others

export function paintOverlay(
  pen: Pen & CanvasRenderingContext2D,
  model: ChartModel,
  layout: ChartLayout,
  ink: Ink,
  over: ChartOverlay,
): void {
  const {left, right, top, bottom} = layout;
  pen.clearRect(0, 0, layout.width, layout.height);
  const hot = model.series[over.hot];
  if (hot !== undefined && model.series.length > 1) {
    pen.globalAlpha = VEIL;
    pen.fillStyle = ink.surface;
    pen.fillRect(left, top - 2, right - left + 1, bottom - top + 2);
    pen.globalAlpha = 1;
  }
  if (over.step !== null) paintSelection(pen, layout, ink, over.step, over.end);
  if (hot !== undefined) {
    const only: ChartModel = {...model, series: [{...hot, width: 2.25}], labels: false, notes: []};
    for (const _ of paintChart(pen, only, layout, ink, {plates: [], bare: true})) void _;
  }
  if (over.cross !== null) {
    const px = Math.round(layout.px(over.cross)) + 0.5;
    if (px >= left && px <= right + 1) {
      pen.strokeStyle = ink.lineStrong;
      pen.lineWidth = 1;
      pen.beginPath();
      pen.moveTo(px, top);
      pen.lineTo(px, bottom);
      pen.stroke();
    }
  }
  for (const dot of over.dots) {
    const series = model.series[dot.series];
    const value = series?.y[dot.index];
    if (series === undefined || value === undefined || !Number.isFinite(value)) continue;
    const py = layout.py(value);
    const px = layout.px(series.x[dot.index]!);
    if (py < top - 3 || py > bottom + 1 || px < left - 3 || px > right + 3) continue;
    pen.beginPath();
    pen.arc(px, py, dot.series === over.hot ? 3.5 : 2.5, 0, 7);
    pen.fillStyle = series.colour;
    pen.fill();
    pen.strokeStyle = ink.surface;
    pen.lineWidth = 1;
    pen.stroke();
  }
  if (over.prospect !== null) paintPlate(pen, layout, ink, over.prospect, 0.45);
  for (const plate of [over.step, over.end]) if (plate !== null) paintPlate(pen, layout, ink, plate, 1);
  if (over.box !== null) {
    const {x0, y0, x1, y1} = over.box;
    pen.fillStyle = ink.select;
    pen.fillRect(Math.min(x0, x1), Math.min(y0, y1), Math.abs(x1 - x0), Math.abs(y1 - y0));
    pen.strokeStyle = ink.accent;
    pen.lineWidth = 1;
    pen.strokeRect(
      Math.round(Math.min(x0, x1)) + 0.5,
      Math.round(Math.min(y0, y1)) + 0.5,
      Math.abs(x1 - x0),
      Math.abs(y1 - y0),
    );
  }
}

function paintSelection(pen: Pen, layout: ChartLayout, ink: Ink, step: number, end: number | null): void {
  const clampX = (v: number): number => Math.max(layout.left, Math.min(layout.right, layout.px(v)));
  pen.fillStyle = ink.select;
  if (end !== null) {
    const [a, b] = [clampX(Math.min(step, end)), clampX(Math.max(step, end))];
    pen.fillRect(a, layout.top, b - a, layout.bottom - layout.top);
  }
  pen.fillStyle = ink.accent;
  for (const edge of [step, end]) {
    if (edge === null) continue;
    const px = layout.px(edge);
    if (px >= layout.left - 1 && px <= layout.right + 1)
      pen.fillRect(Math.round(px), layout.top, 1, layout.bottom - layout.top);
  }
}

/** The label of a chosen step on the axis. */
export function plateBox(
  pen: Pen,
  layout: ChartLayout,
  ink: Ink,
  value: number,
): {x: number; y: number; w: number; h: number; text: string} {
  const text = formatStep(value);
  pen.font = `600 ${TICK_FONT}px ${ink.font}`;
  const w = pen.measureText(text).width + 10;
  const x = Math.max(1, Math.min(layout.width - w - 1, layout.px(value) - w / 2));
  return {x, y: layout.bottom + 2, w, h: 16, text};
}

function paintPlate(
  pen: CanvasRenderingContext2D,
  layout: ChartLayout,
  ink: Ink,
  value: number,
  opacity: number,
): void {
  const px = layout.px(value);
  if (px < layout.left - 1 || px > layout.right + 1) return;
  const box = plateBox(pen, layout, ink, value);
  pen.fillStyle = ink.surface; // no tick label shows beside the plate
  pen.fillRect(box.x - 14, layout.bottom + 4, box.w + 28, layout.height - layout.bottom - 4);
  pen.globalAlpha = opacity;
  pen.fillStyle = ink.accent;
  pen.beginPath();
  pen.roundRect(box.x, box.y, box.w, box.h, 3);
  pen.fill();
  pen.globalAlpha = 1;
  pen.fillStyle = opacity < 1 ? alpha(ink.textOnAccent, 0.9) : ink.textOnAccent;
  pen.textAlign = 'center';
  pen.textBaseline = 'middle';
  pen.fillText(box.text, box.x + box.w / 2, box.y + 8.5);
}
