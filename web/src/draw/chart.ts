// A line chart on two canvases: data below, everything that follows the pointer above.
import {layoutChart, type ChartLayout} from './chart-layout.ts';
import {nearestAnywhere, nearestIndex, NO_OVERLAY, type ChartModel, type ChartOverlay} from './chart-model.ts';
import {paintOverlay, plateBox} from './chart-overlay.ts';
import {LABEL_ROOM, paintChart} from './chart-paint.ts';
import type {Ink} from './ink.ts';
import {enqueue} from './paint-queue.ts';

export interface Picked {
  readonly series: number;
  readonly index: number;
  readonly distance: number; // px to the pointer
}

export interface Chart {
  /** Shows a model; the old picture stays until the new one is complete. */
  draw(model: ChartModel, width: number, height: number, ink: Ink): void;
  overlay(over: ChartOverlay): void;
  /** For every series the point nearest in x to a pixel; null outside the plot. */
  pickAll(x: number): Picked[];
  /** Index of the series whose line is nearest to a pixel, or −1. */
  pickLine(x: number, y: number): number;
  /** Which step plate (0 start, 1 end) lies under a pixel, or −1. */
  pickPlate(x: number, y: number, step: number | null, end: number | null): number;
  readonly layout: ChartLayout | null;
  readonly model: ChartModel | null;
  destroy(): void;
}

const SLICED_FROM = 10_000; // points; below that one synchronous paint is within a frame

export function createChart(base: HTMLCanvasElement, top: HTMLCanvasElement, onPainted: () => void): Chart {
  const pen = base.getContext('2d');
  const over = top.getContext('2d');
  if (pen === null || over === null) throw new Error('2d canvas is not available');
  let model: ChartModel | null = null;
  let layout: ChartLayout | null = null;
  let ink: Ink | null = null;
  let overlay: ChartOverlay = NO_OVERLAY;
  let overlayAsked = false;
  let cancel: () => void = () => {};
  let ended = false;

  function size(canvas: HTMLCanvasElement, width: number, height: number, ratio: number): void {
    const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (canvas.width !== w || canvas.height !== h) {
      canvas.width = w;
      canvas.height = h;
    }
  }

  function draw(next: ChartModel, width: number, height: number, nextInk: Ink): void {
    cancel();
    if (width < 20 || height < 20) return;
    const ratio = Math.max(1, devicePixelRatio || 1);
    const nextLayout = layoutChart(next, width, height, nextInk, pen!, next.labels ? {right: LABEL_ROOM} : {});
    let points = 0;
    for (const series of next.series) points += series.x.length;
    const plates = [overlay.step, overlay.end].filter((v) => v !== null);
    const commit = (picture: HTMLCanvasElement | null): void => {
      model = next;
      layout = nextLayout;
      ink = nextInk;
      if (picture !== null) {
        size(base, width, height, ratio);
        pen!.setTransform(1, 0, 0, 1, 0, 0);
        pen!.clearRect(0, 0, base.width, base.height);
        pen!.drawImage(picture, 0, 0);
      }
      size(top, width, height, ratio);
      paintTop();
      onPainted();
    };
    if (points < SLICED_FROM) {
      size(base, width, height, ratio);
      pen!.setTransform(ratio, 0, 0, ratio, 0, 0);
      pen!.clearRect(0, 0, width, height);
      for (const _ of paintChart(pen!, next, nextLayout, nextInk, {plates})) void _;
      commit(null);
      return;
    }
    const back = document.createElement('canvas');
    back.width = Math.round(width * ratio);
    back.height = Math.round(height * ratio);
    const backPen = back.getContext('2d', {willReadFrequently: true})!;
    backPen.setTransform(ratio, 0, 0, ratio, 0, 0);
    const painting = paintChart(backPen, next, nextLayout, nextInk, {plates});
    cancel = enqueue(() => {
      if (ended) return true;
      const done = painting.next().done === true;
      if (!done) return false;
      commit(back);
      return true;
    });
  }

  function paintTop(): void {
    overlayAsked = false;
    if (model === null || layout === null || ink === null || ended) return;
    const ratio = Math.max(1, devicePixelRatio || 1);
    over!.setTransform(ratio, 0, 0, ratio, 0, 0);
    paintOverlay(over!, model, layout, ink, overlay);
  }

  function pickAll(x: number): Picked[] {
    if (model === null || layout === null) return [];
    const at = layout.x.value((x - layout.left) / (layout.right - layout.left));
    const out: Picked[] = [];
    for (let i = 0; i < model.series.length; i++) {
      const series = model.series[i]!;
      const index = series.parts === true || series.step !== undefined ? nearestAnywhere(series.x, at) : nearestIndex(series.x, at);
      if (index < 0) continue;
      out.push({series: i, index, distance: Math.abs(layout.px(series.x[index]!) - x)});
    }
    return out;
  }

  function pickLine(x: number, y: number): number {
    if (model === null || layout === null) return -1;
    let best = -1;
    let distance = Infinity;
    const at = layout.x.value((x - layout.left) / (layout.right - layout.left));
    for (let s = 0; s < model.series.length; s++) {
      const series = model.series[s]!;
      const anywhere = series.parts === true || series.step !== undefined;
      const i = anywhere ? nearestAnywhere(series.x, at) : nearestIndex(series.x, at);
      if (i < 0) continue;
      for (const k of [i - 1, i]) {
        const d = segmentDistance(series.x, series.y, k, x, y, layout);
        if (d < distance) [best, distance] = [s, d];
      }
    }
    return best;
  }

  return {
    draw,
    overlay: (next) => {
      overlay = next;
      if (overlayAsked) return;
      overlayAsked = true;
      requestAnimationFrame(paintTop);
    },
    pickAll,
    pickLine,
    pickPlate: (x, y, step, end) => {
      if (layout === null || ink === null) return -1;
      const values = [step, end];
      for (let i = 0; i < 2; i++) {
        const value = values[i];
        if (value === null || value === undefined) continue;
        const box = plateBox(over, layout, ink, value);
        if (x >= box.x - 2 && x <= box.x + box.w + 2 && y >= box.y - 2) return i;
      }
      return -1;
    },
    get layout() {
      return layout;
    },
    get model() {
      return model;
    },
    destroy: () => {
      ended = true;
      cancel();
      base.width = top.width = 0;
    },
  };
}

/** Distance of a pixel to the segment from point k to k + 1 (or to the point itself at an end). */
function segmentDistance(xs: ArrayLike<number>, ys: ArrayLike<number>, k: number, x: number, y: number, layout: ChartLayout): number {
  const a = Math.max(0, k);
  const b = Math.min(xs.length - 1, k + 1);
  const [ax, ay, bx, by] = [layout.px(xs[a]!), layout.py(ys[a]!), layout.px(xs[b]!), layout.py(ys[b]!)];
  if (!Number.isFinite(ay)) return Number.isFinite(by) ? Math.hypot(bx - x, by - y) : Infinity;
  if (!Number.isFinite(by)) return Math.hypot(ax - x, ay - y);
  const [dx, dy] = [bx - ax, by - ay];
  const length = dx * dx + dy * dy;
  const t = length === 0 ? 0 : Math.max(0, Math.min(1, ((x - ax) * dx + (y - ay) * dy) / length));
  return Math.hypot(ax + t * dx - x, ay + t * dy - y);
}
