// A line chart on two canvases: data below, everything that follows the pointer above.
import {layoutChart, layoutOf, type ChartLayout} from './chart-layout.ts';
import {NO_OVERLAY, type ChartModel, type ChartOverlay} from './chart-model.ts';
import {nearestAnywhere, nearestIndex} from './nearest.ts';
import {paintOverlay, plateBox} from './chart-overlay.ts';
import {LABEL_ROOM, paintChart} from './chart-paint.ts';
import type {ThemeColours} from './theme-colours.ts';
import {enqueue, enqueueOverlay, forgetOverlay, handle} from './paint-queue.ts';

export interface Pick {
  /** For every series the index of the point nearest in x, −1 without one; valid until the next pick. */
  readonly at: Int32Array;
  /** Index of the series whose line is nearest to the pixel, or −1. */
  readonly line: number;
}

export interface Chart {
  /** Shows a model; the old picture stays until the new one is complete. `first`: before other charts. */
  draw(model: ChartModel, width: number, height: number, colours: ThemeColours, first: boolean): void;
  /** What lies over the data; built when it is painted, the chart under the pointer first. */
  overlay(build: () => ChartOverlay, first: boolean): void;
  pick(x: number, y: number): Pick;
  /** The x of the point of any series nearest to a pixel, or null without points. */
  snap(x: number): number | null;
  /** Which step plate (0 start, 1 end) lies under a pixel, or −1. */
  pickPlate(x: number, y: number, step: number | null, end: number | null): number;
  readonly layout: ChartLayout | null;
  readonly model: ChartModel | null;
  destroy(): void;
}

const SLICED_FROM = 10_000; // points; below that one paint is within a frame

export function createChart(base: HTMLCanvasElement, top: HTMLCanvasElement, onPainted: () => void): Chart {
  const brush = base.getContext('2d');
  const over = top.getContext('2d');
  if (brush === null || over === null) throw new Error('2d canvas is not available');
  let model: ChartModel | null = null;
  let layout: ChartLayout | null = null;
  let colours: ThemeColours | null = null;
  let build: () => ChartOverlay = () => NO_OVERLAY;
  let overlay: ChartOverlay = NO_OVERLAY;
  let cancel: () => void = () => {};
  let ended = false;
  let nearest = new Int32Array(0);

  function size(canvas: HTMLCanvasElement, width: number, height: number, ratio: number): void {
    const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (canvas.width !== w || canvas.height !== h) {
      canvas.width = w;
      canvas.height = h;
    }
  }

  function draw(next: ChartModel, width: number, height: number, nextStyle: ThemeColours, first: boolean): void {
    cancel();
    if (width < 20 || height < 20) return;
    let points = 0;
    for (const series of next.series) points += series.x.length;
    const work = painter(next, width, height, nextStyle, points < SLICED_FROM);
    if (first && model !== null && next.series === model.series) handle(); // only the view changed
    if (first && points < SLICED_FROM) work();
    else cancel = enqueue(work, first, points >= SLICED_FROM);
  }

  /** The painting of a model as slices; with `whole` in one, straight onto the canvas. */
  function painter(
    next: ChartModel,
    width: number,
    height: number,
    nextStyle: ThemeColours,
    whole: boolean,
  ): () => boolean {
    const ratio = Math.max(1, devicePixelRatio || 1);
    let painting: Generator<void> | null = null;
    let picture: HTMLCanvasElement | null = null;
    let nextLayout: ChartLayout;
    return () => {
      if (ended) return true;
      if (painting === null) {
        overlay = build(); // ticks make room for its plates
        nextLayout = layoutChart(next, width, height, nextStyle, brush!, next.labels ? {right: LABEL_ROOM} : {});
        let onto = brush!;
        if (whole) size(base, width, height, ratio);
        else {
          picture = document.createElement('canvas');
          size(picture, width, height, ratio);
          onto = picture.getContext('2d', {willReadFrequently: true})!;
        }
        onto.setTransform(ratio, 0, 0, ratio, 0, 0);
        if (whole) onto.clearRect(0, 0, width, height);
        painting = paintChart(onto, next, nextLayout, nextStyle, {
          axisFields: [overlay.step, overlay.end].filter(v => v !== null),
        });
        if (whole) for (const _ of painting) void _;
      }
      if (painting.next().done !== true) return false;
      model = next;
      layout = nextLayout;
      colours = nextStyle;
      if (picture !== null) {
        size(base, width, height, ratio);
        brush!.setTransform(1, 0, 0, 1, 0, 0);
        brush!.clearRect(0, 0, base.width, base.height);
        brush!.drawImage(picture, 0, 0);
        picture = null;
      }
      size(top, width, height, ratio);
      paintTop();
      onPainted();
      return true;
    };
  }

  function paintTop(): void {
    if (model === null || layout === null || colours === null || ended) return;
    overlay = build();
    const ratio = Math.max(1, devicePixelRatio || 1);
    over!.setTransform(ratio, 0, 0, ratio, 0, 0);
    paintOverlay(over!, model, layout, colours, overlay);
  }

  function findNearest(x: number): void {
    const series = model?.series ?? [];
    if (nearest.length !== series.length) nearest = new Int32Array(series.length);
    if (layout === null) return;
    const at = layout.x.value((x - layout.left) / (layout.right - layout.left));
    for (let i = 0; i < series.length; i++) {
      const one = series[i]!;
      nearest[i] = one.parts === true || one.step !== undefined ? nearestAnywhere(one.x, at) : nearestIndex(one.x, at);
    }
  }

  function pick(x: number, y: number): Pick {
    findNearest(x);
    let line = -1;
    let distance = Infinity;
    if (model !== null && layout !== null) {
      for (let s = 0; s < nearest.length; s++) {
        const i = nearest[s]!;
        if (i < 0) continue;
        const {x: xs, y: ys} = model.series[s]!;
        const own = layoutOf(layout, model.series[s]!);
        for (let k = i - 1; k <= i; k++) {
          const d = segmentDistance(xs, ys, k, x, y, own);
          if (d < distance) {
            line = s;
            distance = d;
          }
        }
      }
    }
    return {at: nearest, line};
  }

  return {
    draw,
    overlay: (next, first) => {
      build = next;
      enqueueOverlay(paintTop, first);
    },
    pick,
    snap: x => {
      findNearest(x);
      let best: number | null = null;
      let distance = Infinity;
      for (let s = 0; s < nearest.length; s++) {
        const i = nearest[s]!;
        if (i < 0) continue;
        const value = model!.series[s]!.x[i]!;
        const d = Math.abs(layout!.px(value) - x);
        if (d < distance) {
          best = value;
          distance = d;
        }
      }
      return best;
    },
    pickPlate: (x, y, step, end) => {
      if (layout === null || colours === null) return -1;
      const values = [step, end];
      for (let i = 0; i < 2; i++) {
        const value = values[i];
        if (value === null || value === undefined) continue;
        const box = plateBox(over, layout, colours, value);
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
      forgetOverlay(paintTop);
      base.width = top.width = 0;
    },
  };
}

/** Distance of a pixel to the segment from point k to k + 1 (or to the point itself at an end). */
function segmentDistance(
  xs: ArrayLike<number>,
  ys: ArrayLike<number>,
  k: number,
  x: number,
  y: number,
  layout: ChartLayout,
): number {
  const a = k < 0 ? 0 : k;
  const b = k + 1 >= xs.length ? xs.length - 1 : k + 1;
  const ax = layout.px(xs[a]!);
  const ay = layout.py(ys[a]!);
  const bx = layout.px(xs[b]!);
  const by = layout.py(ys[b]!);
  if (!Number.isFinite(ay)) return Number.isFinite(by) ? Math.hypot(bx - x, by - y) : Infinity;
  if (!Number.isFinite(by)) return Math.hypot(ax - x, ay - y);
  const dx = bx - ax;
  const dy = by - ay;
  const length = dx * dx + dy * dy;
  const t = length === 0 ? 0 : Math.max(0, Math.min(1, ((x - ax) * dx + (y - ay) * dy) / length));
  const ex = ax + t * dx - x;
  const ey = ay + t * dy - y;
  return Math.sqrt(ex * ex + ey * ey);
}
