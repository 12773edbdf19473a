// Pointer, wheel and keys on a line chart, as wishes: a new view, a chosen step or range.
import type {Chart} from '../draw/chart.ts';
import type {ChartModel, ChartOverlay} from '../draw/chart-model.ts';
import {nearestIndex} from '../draw/nearest.ts';
import type {Domain, Scale} from '../draw/scale.ts';

interface Host {
  chart(): Chart | undefined;
  selectable(): boolean;
  selection(): readonly [number | null, number | null];
  show(state: {box: ChartOverlay['box']; prospect: number | null}): void;
  view(x: Domain | null, y: Domain | null): void;
  select(step: number | null, end: number | null): void;
  edit(plate: number): void;
  hint(): void;
  tap(): void;
}

export interface Gestures {
  down(event: PointerEvent, at: Point): void;
  move(at: Point): void;
  up(event: PointerEvent, at: Point): void;
  wheel(event: WheelEvent, at: Point): void;
  /** Keys while the plot is explored; null when the key means nothing here. */
  key(event: KeyboardEvent, model: ChartModel, hot: number, x: number | null): {hot: number; x: number | null} | null;
}

interface Point {
  readonly x: number;
  readonly y: number;
}

let hinted = false; // once a visit is enough
const SMALL = 6; // px: below that a drag is a click or one-dimensional

export function createGestures(host: Host): Gestures {
  let mode: 'none' | 'zoom' | 'pan' | 'plate' | 'axis' = 'none';
  let start: Point = {x: 0, y: 0};
  let plate = 0;
  let panned: {x: Domain; y: Domain; xs: Scale; ys: Scale} | null = null;

  const share = (at: Point): {x: number; y: number} | null => {
    const layout = host.chart()?.layout;
    if (layout === null || layout === undefined) return null;
    return {
      x: (at.x - layout.left) / (layout.right - layout.left),
      y: (layout.bottom - at.y) / (layout.bottom - layout.top),
    };
  };
  const snap = (px: number): number | null => host.chart()?.snap(px) ?? null;
  const onAxis = (at: Point): boolean => {
    const layout = host.chart()?.layout;
    return (
      layout !== null &&
      layout !== undefined &&
      host.selectable() &&
      at.y > layout.bottom &&
      at.x >= layout.left - 8 &&
      at.x <= layout.right + 8
    );
  };

  return {
    down: (event, at) => {
      const layout = host.chart()?.layout;
      if (layout === null || layout === undefined || event.button === 2) return;
      start = at;
      if (host.selectable()) {
        const [step, end] = host.selection();
        plate = host.chart()!.pickPlate(at.x, at.y, step, end);
      } else plate = -1;
      if (plate >= 0) mode = 'plate';
      else if (onAxis(at)) mode = 'axis';
      else if (event.button === 1 || event.shiftKey || event.altKey) {
        mode = 'pan';
        panned = {x: layout.x.domain, y: layout.y.domain, xs: layout.x, ys: layout.y};
        event.preventDefault();
      } else if (event.pointerType === 'touch') mode = 'none';
      else mode = 'zoom';
      if (mode !== 'none') (event.currentTarget as HTMLElement).setPointerCapture?.(event.pointerId);
    },
    move: at => {
      const layout = host.chart()?.layout;
      if (layout === null || layout === undefined) return;
      if (mode === 'zoom') {
        const [dx, dy] = [Math.abs(at.x - start.x), Math.abs(at.y - start.y)];
        if (dx < SMALL && dy < SMALL) return host.show({box: null, prospect: null});
        const clampX = (v: number): number => Math.max(layout.left, Math.min(layout.right, v));
        const clampY = (v: number): number => Math.max(layout.top, Math.min(layout.bottom, v));
        const thinY = dy < SMALL * 2; // a flat drag zooms x only
        const thinX = dx < SMALL * 2;
        host.show({
          box: {
            x0: thinX ? layout.left : clampX(start.x),
            x1: thinX ? layout.right : clampX(at.x),
            y0: thinY ? layout.top : clampY(start.y),
            y1: thinY ? layout.bottom : clampY(at.y),
          },
          prospect: null,
        });
      } else if (mode === 'pan' && panned !== null) {
        const dx = (at.x - start.x) / (layout.right - layout.left);
        const dy = (at.y - start.y) / (layout.bottom - layout.top);
        host.view([panned.xs.value(-dx), panned.xs.value(1 - dx)], [panned.ys.value(dy), panned.ys.value(1 + dy)]);
      } else if (mode === 'plate' || mode === 'axis') {
        if (Math.abs(at.x - start.x) < 3) return;
        const value = snap(at.x);
        const [step, end] = host.selection();
        if (value === null) return;
        if (mode === 'axis') {
          const first = snap(start.x);
          if (first !== null && first !== value) host.select(Math.min(first, value), Math.max(first, value));
        } else if (end === null || step === null) host.select(value, null);
        else {
          const other = plate === 0 ? end : step;
          host.select(Math.min(value, other), Math.max(value, other));
          plate = value <= other ? 0 : 1; // crossing swaps their roles
        }
      } else host.show({box: null, prospect: onAxis(at) ? snap(at.x) : null});
    },
    up: (event, at) => {
      const was = mode;
      mode = 'none';
      const layout = host.chart()?.layout;
      if (layout === null || layout === undefined) return;
      host.show({box: null, prospect: null});
      const [dx, dy] = [Math.abs(at.x - start.x), Math.abs(at.y - start.y)];
      if (was === 'zoom') {
        if (dx < SMALL && dy < SMALL) return event.detail === 0 || event.button === 0 ? host.tap() : undefined;
        const a = share(start)!;
        const b = share(at)!;
        const unit = (v: number): number => Math.max(0, Math.min(1, v));
        const x: Domain = [layout.x.value(unit(Math.min(a.x, b.x))), layout.x.value(unit(Math.max(a.x, b.x)))];
        const y: Domain = [layout.y.value(unit(Math.min(a.y, b.y))), layout.y.value(unit(Math.max(a.y, b.y)))];
        const thinY = dy < SMALL * 2;
        const thinX = dx < SMALL * 2;
        host.view(thinX ? (host.chart()?.model?.xView ?? null) : x, thinY ? null : y);
      } else if (was === 'axis' && dx < 3) {
        const value = snap(at.x);
        if (value !== null) host.select(value, null);
      } else if (was === 'plate' && dx < 3) host.edit(plate);
    },
    wheel: (event, at) => {
      if (!event.altKey && !event.ctrlKey) {
        if (!hinted) host.hint();
        hinted = true;
        return;
      }
      event.preventDefault();
      const layout = host.chart()?.layout;
      const p = share(at);
      if (layout === null || layout === undefined || p === null) return;
      const factor = Math.exp(Math.max(-0.5, Math.min(0.5, event.deltaY * 0.01)));
      const around = (scale: Scale, c: number): Domain => [
        scale.value(c - c * factor),
        scale.value(c + (1 - c) * factor),
      ];
      host.view(around(layout.x, p.x), around(layout.y, p.y));
    },
    key: (event, model, hot, x) => {
      const series = model.series[hot];
      const layout = host.chart()?.layout;
      if (series === undefined || layout === null || layout === undefined) return null;
      const at = x === null ? 0 : nearestIndex(series.x, x);
      const last = series.x.length - 1;
      const jump = event.shiftKey ? Math.max(1, Math.round((last / (layout.right - layout.left)) * 10)) : 1;
      if (event.key === 'ArrowRight') return {hot, x: series.x[Math.min(last, at + jump)]!};
      if (event.key === 'ArrowLeft') return {hot, x: series.x[Math.max(0, at - jump)]!};
      if (event.key === 'Home') return {hot, x: series.x[0]!};
      if (event.key === 'End') return {hot, x: series.x[last]!};
      if (event.key === 'ArrowDown') return {hot: (hot + 1) % model.series.length, x};
      if (event.key === 'ArrowUp') return {hot: (hot - 1 + model.series.length) % model.series.length, x};
      const c = x === null ? 0.5 : layout.x.at(x);
      if (event.key === '+' || event.key === '=')
        host.view([layout.x.value(c - c * 0.7), layout.x.value(c + (1 - c) * 0.7)], null);
      else if (event.key === '-') host.view([layout.x.value(c - c * 1.4), layout.x.value(c + (1 - c) * 1.4)], null);
      else if (event.key === '0') host.view(null, null);
      else if (event.key === ' ' && host.selectable()) {
        const [step, end] = host.selection();
        if (event.shiftKey && step !== null && x !== null) host.select(Math.min(step, x), Math.max(step, x));
        else if (step === x && end === null) host.select(null, null);
        else host.select(x, null);
      } else return null;
      return {hot, x};
    },
  };
}
