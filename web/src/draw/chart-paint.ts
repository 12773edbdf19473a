// Paints a line chart with a brush: grid, axis, bands, extents, lines, marks. A generator, so that a
// thousand series can be painted over several frames; drain it for an export.
import type {ChartLayout} from './chart-layout.ts';
import {layoutOf, TICK_FONT} from './chart-layout.ts';
import type {ChartModel, ChartSeries, Numbers} from './chart-model.ts';
import type {ThemeColours} from './theme-colours.ts';
import {lowerBound} from './nearest.ts';
import {alpha} from './palette.ts';
import type {Brush} from './brush.ts';
import {formatStep} from '../text/format.ts';

const POINTS_PER_SLICE = 3000;

export interface PaintOptions {
  /** Step labels on the axis: ticks under them disappear. */
  readonly axisFields: readonly number[];
  /** Only the lines: no axes, nothing outside the plot. */
  readonly bare?: boolean;
}

export function* paintChart(
  brush: Brush,
  model: ChartModel,
  layout: ChartLayout,
  colours: ThemeColours,
  options: PaintOptions = {axisFields: []},
): Generator<void> {
  const bare = options.bare === true;
  if (!bare) paintAxes(brush, layout, colours, options.axisFields, model.series.length > 0);
  const {left, right, top, bottom} = layout;
  brush.save();
  brush.beginPath();
  brush.rect(left, top - 2, right - left + 1, bottom - top + 3);
  brush.clip();
  const count = model.series.length;
  const width = count > 60 ? 1 : count > 12 ? 1.25 : 1.5;
  const fade = count > 60 ? 0.7 : 1;
  for (const series of model.series)
    if (series.bandLo !== undefined && series.bandHi !== undefined)
      paintBand(brush, series, layoutOf(layout, series), colours);
  if (count <= 12) {
    for (const series of model.series) {
      if (series.raw === undefined || model.ghost <= 0 || !series.exact) continue;
      brush.strokeStyle = alpha(series.colour, model.ghost);
      brush.lineWidth = 1;
      line(brush, series, series.raw, layoutOf(layout, series));
    }
  }
  let work = 0;
  for (const series of model.series) {
    if (series.lo === undefined || series.hi === undefined) continue;
    paintExtents(brush, series, layoutOf(layout, series), colours, count > 60);
    work += series.x.length;
    if (work > POINTS_PER_SLICE) {
      work = 0;
      yield;
    }
  }
  let dash: readonly number[] | null = null; // what the brush has
  for (const series of model.series) {
    const isGroup = series.run < 0;
    brush.strokeStyle = alpha(series.colour, (series.alpha ?? 1) * (isGroup ? 1 : fade));
    brush.lineWidth = series.width ?? (isGroup ? 1.75 : width);
    if (series.parts === true) {
      paintParts(brush, series, layoutOf(layout, series), model.ghost);
      dash = null;
    } else {
      if (series.dash !== dash) brush.setLineDash([...(dash = series.dash)]);
      line(brush, series, series.y, layoutOf(layout, series));
    }
    work += series.x.length;
    if (work > POINTS_PER_SLICE) {
      work = 0;
      yield;
    }
  }
  brush.setLineDash([]);
  if (count <= 60) for (const series of model.series) paintDots(brush, series, layoutOf(layout, series));
  brush.restore();
  if (count <= 60)
    for (const series of model.series)
      if (series.run >= 0) paintMarks(brush, series, layoutOf(layout, series), colours);
  if (bare) return;
  if (count <= 200) paintOutside(brush, model, layout);
  paintNotes(brush, model, layout, colours);
  if (model.labels) paintLabels(brush, model, layout, colours);
}

const PLATE_ROOM = 22; // beside a plate's text: its padding and what it clears, see paintPlate

/** Without data (still loading) the grid stands there, but no number is claimed. */
function paintAxes(
  brush: Brush,
  layout: ChartLayout,
  colours: ThemeColours,
  axisFields: readonly number[],
  labels: boolean,
): void {
  const {left, right, bottom, top, width} = layout;
  brush.lineWidth = 1;
  brush.setLineDash([]);
  brush.font = `400 ${TICK_FONT}px ${colours.font}`;
  brush.textBaseline = 'middle';
  brush.textAlign = 'right';
  const [y0, y1] = layout.y.domain;
  layout.yTicks.values.forEach((value, i) => {
    const y = Math.round(layout.py(value)) + 0.5;
    if (y < top - 1 || y > bottom + 1) return;
    brush.strokeStyle = value === 0 && y0 < 0 && y1 > 0 ? colours.line : colours.grid;
    brush.beginPath();
    brush.moveTo(left, y);
    brush.lineTo(right, y);
    brush.stroke();
    brush.fillStyle = colours.text3;
    if (labels) brush.fillText(layout.yTicks.labels[i]!, left - 6, Math.max(top + 2, Math.min(bottom - 2, y)));
  });
  if (layout.second !== undefined && labels) paintSecondAxis(brush, layout.second, colours);
  brush.strokeStyle = colours.axis;
  brush.beginPath();
  brush.moveTo(left, bottom + 0.5);
  brush.lineTo(right, bottom + 0.5);
  brush.stroke();
  brush.textAlign = 'center';
  brush.textBaseline = 'top';
  let free = -Infinity; // where the next label may begin
  layout.xTicks.values.forEach((value, i) => {
    const x = Math.round(layout.px(value)) + 0.5;
    if (x < left - 1 || x > right + 1) return;
    brush.strokeStyle = colours.axis;
    brush.beginPath();
    brush.moveTo(x, bottom);
    brush.lineTo(x, bottom + 3);
    brush.stroke();
    if (!labels) return;
    const under = layout.xTicks.under?.[i] ?? null;
    const label = under === null ? layout.xTicks.labels[i]! : `${under.slice(5)} ${layout.xTicks.labels[i]!}`;
    const half = brush.measureText(label).width / 2;
    const at = Math.min(Math.max(x, left + half - 6), width - half - 2);
    if (
      at - half < free ||
      axisFields.some(
        plate => Math.abs(layout.px(plate) - at) < half + brush.measureText(formatStep(plate)).width / 2 + PLATE_ROOM,
      )
    )
      return;
    brush.fillStyle = colours.text3;
    brush.fillText(label, at, bottom + 5);
    free = at + half + 6;
  });
}

/** Ticks and labels at the right; the grid belongs to the left axis. */
function paintSecondAxis(brush: Brush, layout: ChartLayout, colours: ThemeColours): void {
  const {right, bottom, top} = layout;
  brush.textAlign = 'left';
  brush.strokeStyle = colours.axis;
  brush.fillStyle = colours.text3;
  layout.yTicks.values.forEach((value, i) => {
    const y = Math.round(layout.py(value)) + 0.5;
    if (y < top - 1 || y > bottom + 1) return;
    brush.beginPath();
    brush.moveTo(right, y);
    brush.lineTo(right + 4, y);
    brush.stroke();
    brush.fillText(layout.yTicks.labels[i]!, right + 7, Math.max(top + 2, Math.min(bottom - 2, y)));
  });
}

/** One path from the first to the last point in view, with one neighbour outside at each side. */
function line(brush: Brush, series: ChartSeries, y: Numbers, layout: ChartLayout): void {
  const {x} = series;
  const n = x.length;
  const [x0, x1] = layout.x.domain;
  let from = 0;
  let to = n;
  if (series.parts !== true && layout.x.kind !== 'log' && n > 2 && x[0]! <= x[n - 1]! && !isValue(series)) {
    from = Math.max(0, lowerBound(x, x0) - 1);
    to = Math.min(n, lowerBound(x, x1) + 2);
  }
  const linearX = layout.x.kind === 'linear';
  const linearY = layout.y.kind === 'linear';
  const kx = (layout.right - layout.left) / (x1 - x0 || 1);
  const [y0, y1] = layout.y.domain;
  const ky = (layout.bottom - layout.top) / (y1 - y0 || 1);
  const {left, bottom, top} = layout;
  const ceiling = top - 40 * (bottom - top);
  const floor = bottom + 40 * (bottom - top);
  brush.beginPath();
  let down = false;
  let alone = false; // the last moveTo had no lineTo yet: a single point between gaps
  let [lastX, lastY] = [0, 0];
  const dot = (): void => {
    if (alone) brush.lineTo(lastX + 0.01, lastY);
  };
  for (let i = from; i < to; i++) {
    const v = y[i]!;
    if (!Number.isFinite(v)) {
      dot();
      down = alone = false;
      continue;
    }
    const px = linearX ? left + (x[i]! - x0) * kx : layout.px(x[i]!);
    let py = linearY ? bottom - (v - y0) * ky : layout.py(v);
    if (py < ceiling) py = ceiling;
    else if (py > floor) py = floor;
    if (!Number.isFinite(px)) continue;
    if (down) {
      brush.lineTo(px, py);
      alone = false;
    } else {
      brush.moveTo(px, py);
      down = alone = true;
    }
    lastX = px;
    lastY = py;
  }
  dot();
  brush.stroke();
}

function isValue(series: ChartSeries): boolean {
  return series.step !== undefined; // x is another tag's value: any order
}

/** Restarts kept: what a later part repeats is a dashed ghost. */
function paintParts(brush: Brush, series: ChartSeries, layout: ChartLayout, ghost: number): void {
  const starts = [0];
  for (let i = 1; i < series.x.length; i++) if (series.x[i]! < series.x[i - 1]!) starts.push(i);
  const slice = (a: Numbers, from: number, to: number): Numbers => Array.prototype.slice.call(a, from, to) as number[];
  let cutoff = Infinity;
  for (let k = starts.length - 1; k >= 0; k--) {
    const from = starts[k]!;
    const to = starts[k + 1] ?? series.x.length;
    let cut = from;
    while (cut < to && series.x[cut]! < cutoff) cut++;
    const part = (a: number, b: number): ChartSeries => ({
      ...series,
      parts: false,
      x: slice(series.x, a, b),
      y: slice(series.y, a, b),
    });
    brush.setLineDash([...series.dash]);
    const solid = part(from, cut);
    line(brush, solid, solid.y, layout);
    if (cut < to) {
      const colour = brush.strokeStyle;
      brush.strokeStyle = alpha(series.colour, Math.max(0.3, ghost));
      brush.setLineDash([2, 3]);
      const old = part(Math.max(from, cut - 1), to);
      line(brush, old, old.y, layout);
      brush.strokeStyle = colour;
    }
    cutoff = Math.min(cutoff, series.x[from] ?? Infinity);
  }
  brush.setLineDash([]);
}

function paintBand(brush: Brush, series: ChartSeries, layout: ChartLayout, colours: ThemeColours): void {
  const {x, bandLo, bandHi} = series;
  brush.fillStyle = alpha(series.colour, colours.band);
  let from = 0;
  while (from < x.length) {
    while (from < x.length && !(Number.isFinite(bandLo![from]!) && Number.isFinite(bandHi![from]!))) from++;
    let to = from;
    while (to < x.length && Number.isFinite(bandLo![to]!) && Number.isFinite(bandHi![to]!)) to++;
    if (to - from === 1)
      brush.fillRect(
        layout.px(x[from]!) - 3,
        layout.py(bandHi![from]!),
        6,
        layout.py(bandLo![from]!) - layout.py(bandHi![from]!),
      );
    if (to - from > 1) {
      brush.beginPath();
      for (let i = from; i < to; i++) {
        const px = layout.px(x[i]!);
        if (i === from) brush.moveTo(px, layout.py(bandHi![i]!));
        else brush.lineTo(px, layout.py(bandHi![i]!));
      }
      for (let i = to - 1; i >= from; i--) brush.lineTo(layout.px(x[i]!), layout.py(bandLo![i]!));
      brush.closePath();
      brush.fill();
    }
    from = to;
  }
}

/**
 * What shares a pixel column: one vertical bar from min to max. A spike of one point stays visible.
 * Where a bucket is wider than a pixel (many runs), only what the line itself does not cover is drawn,
 * or the bars would look like a comb.
 */
function paintExtents(
  brush: Brush,
  series: ChartSeries,
  layout: ChartLayout,
  colours: ThemeColours,
  many: boolean,
): void {
  const {x, y, lo, hi} = series;
  const [x0, x1] = layout.x.domain;
  const [y0, y1] = layout.y.domain;
  const n = x.length;
  const linear = layout.x.kind === 'linear' && layout.y.kind === 'linear';
  const kx = (layout.right - layout.left) / (x1 - x0 || 1);
  const ky = (layout.bottom - layout.top) / (y1 - y0 || 1);
  const {left, bottom} = layout;
  const far = 50 * (bottom - layout.top);
  const toX = (v: number): number => (linear ? left + (v - x0) * kx : layout.px(v));
  const toY = (v: number): number => (linear ? bottom - Math.max(-far, Math.min(far, (v - y0) * ky)) : layout.py(v));
  const coarse = many || (n > 2 && (toX(x[n - 1]!) - toX(x[0]!)) / n > 2);
  const least = coarse ? 5 : 0;
  brush.strokeStyle = alpha(series.colour, colours.extent);
  brush.lineWidth = 1;
  brush.setLineDash([]);
  brush.beginPath();
  let any = false;
  for (let i = 0; i < n; i++) {
    if (x[i]! < x0 || x[i]! > x1) continue;
    const a = lo![i]!;
    const b = hi![i]!;
    if (!(b > a)) continue;
    const px = Math.floor(toX(x[i]!)) + 0.5;
    const ya = toY(a);
    const yb = toY(b);
    if (!coarse) {
      any = true;
      brush.moveTo(px, ya);
      brush.lineTo(px, Math.min(yb, ya - 1));
      continue;
    }
    const p = toY(y[i]!);
    const q = i > 0 ? toY(y[i - 1]!) : p;
    const upper = Math.min(p, q);
    const lower = Math.max(p, q);
    if (yb < upper - least) {
      any = true;
      brush.moveTo(px, upper);
      brush.lineTo(px, yb);
    }
    if (ya > lower + least) {
      any = true;
      brush.moveTo(px, lower);
      brush.lineTo(px, ya);
    }
  }
  if (any) brush.stroke();
}

/** Points as dots when they are far apart. */
function paintDots(brush: Brush, series: ChartSeries, layout: ChartLayout): void {
  const n = series.x.length;
  if (!series.exact || n === 0) return;
  const span = Math.abs(layout.px(series.x[n - 1]!) - layout.px(series.x[0]!));
  if (n > 1 && span / (n - 1) < 12) return;
  brush.fillStyle = series.colour;
  for (let i = 0; i < n; i++) {
    if (!Number.isFinite(series.y[i]!)) continue;
    brush.beginPath();
    brush.arc(layout.px(series.x[i]!), layout.py(series.y[i]!), 2, 0, 7);
    brush.fill();
  }
}

/** NaN and infinities: a hollow triangle where they begin, a dotted line over their length. */
function paintMarks(brush: Brush, series: ChartSeries, layout: ChartLayout, colours: ThemeColours): void {
  const {x, y} = series;
  const truth = series.raw ?? y;
  let last = NaN; // last finite value
  for (let i = 0; i < x.length; i++) {
    const v = truth[i]!;
    const bad = !Number.isFinite(v) || (series.nan?.[i] ?? 0) > 0;
    if (!bad) {
      last = y[i]!;
      continue;
    }
    const from = i;
    while (i + 1 < x.length && Number.isNaN(truth[i + 1]!) === Number.isNaN(v) && !Number.isFinite(truth[i + 1]!)) i++;
    const px = layout.px(x[from]!);
    if (px < layout.left - 5 || px > layout.right + 5) continue;
    const up = v !== -Infinity;
    let at = Number.isFinite(last) ? layout.py(last) : layout.bottom - 4;
    if (v === Infinity) at = layout.top + 5;
    if (v === -Infinity) at = layout.bottom - 5;
    at = Math.max(layout.top + 4, Math.min(layout.bottom - 4, at));
    if (i > from) {
      brush.strokeStyle = series.colour;
      brush.lineWidth = 1;
      brush.setLineDash([1, 3]);
      brush.beginPath();
      brush.moveTo(px, at);
      brush.lineTo(Math.min(layout.right, layout.px(x[i]!)), at);
      brush.stroke();
      brush.setLineDash([]);
    }
    const s = up ? 1 : -1;
    brush.fillStyle = colours.surface;
    brush.strokeStyle = series.colour;
    brush.lineWidth = 1.5;
    brush.beginPath();
    brush.moveTo(px, at - 5 * s);
    brush.lineTo(px + 5, at + 3.5 * s);
    brush.lineTo(px - 5, at + 3.5 * s);
    brush.closePath();
    brush.fill();
    brush.stroke();
  }
}

/** Points outside the fitted range: short ticks at the border. */
function paintOutside(brush: Brush, model: ChartModel, layout: ChartLayout): void {
  const [x0, x1] = layout.x.domain;
  if (layout.above === 0 && layout.below === 0) return;
  for (const series of model.series) {
    const [y0, y1] = layoutOf(layout, series).y.domain;
    brush.fillStyle = series.colour;
    let [lastTop, lastBottom] = [-9, -9];
    for (let i = 0; i < series.x.length; i++) {
      if (series.x[i]! < x0 || series.x[i]! > x1) continue;
      const v = series.y[i]!;
      const px = Math.round(layout.px(series.x[i]!));
      if (v > y1 && px > lastTop + 1) {
        brush.fillRect(px, layout.top - 2, 1, 3);
        lastTop = px;
      } else if (v < y0 && px > lastBottom + 1) {
        brush.fillRect(px, layout.bottom - 3, 1, 3);
        lastBottom = px;
      }
    }
  }
}

function paintNotes(brush: Brush, model: ChartModel, layout: ChartLayout, colours: ThemeColours): void {
  for (const note of model.notes ?? []) {
    const px = Math.round(layout.px(note.x)) + 0.5;
    if (px < layout.left || px > layout.right) continue;
    brush.strokeStyle = colours.text3;
    brush.lineWidth = 1;
    brush.setLineDash([2, 3]);
    brush.beginPath();
    brush.moveTo(px, layout.top);
    brush.lineTo(px, layout.bottom);
    brush.stroke();
    brush.setLineDash([]);
    brush.font = `400 ${TICK_FONT}px ${colours.font}`;
    brush.fillStyle = colours.text3;
    brush.textAlign = px > (layout.left + layout.right) / 2 ? 'right' : 'left';
    brush.textBaseline = 'top';
    brush.fillText(note.text, px + (brush.textAlign === 'left' ? 4 : -4), layout.top);
  }
}

export const LABEL_ROOM = 96;

/** Names at the right end of the lines, pushed apart. */
function paintLabels(brush: Brush, model: ChartModel, layout: ChartLayout, colours: ThemeColours): void {
  const labels = [];
  const grouped = model.series.some(series => series.run < 0);
  for (const series of model.series) {
    if (grouped && series.run >= 0) continue; // members behind their group's line
    let last = -1;
    for (let i = 0; i < series.x.length; i++)
      if (Number.isFinite(series.y[i]!) && series.x[i]! <= layout.x.domain[1]) last = i;
    if (last < 0) continue;
    const y = layoutOf(layout, series).py(series.y[last]!);
    labels.push({y: Math.max(layout.top, Math.min(layout.bottom, y)), series});
  }
  labels.sort((a, b) => a.y - b.y);
  for (let i = 1; i < labels.length; i++) labels[i]!.y = Math.max(labels[i]!.y, labels[i - 1]!.y + 13);
  const over = (labels.at(-1)?.y ?? 0) - (layout.bottom - 4);
  if (over > 0) for (const label of labels) label.y -= over;
  brush.textAlign = 'left';
  brush.textBaseline = 'middle';
  brush.font = `400 ${TICK_FONT}px ${colours.font}`;
  const at = layout.width - 10 - LABEL_ROOM; // right of a second axis
  for (const {y, series} of labels) {
    brush.fillStyle = series.colour;
    brush.fillRect(at + 5, y - 1, 12, 2);
    brush.fillStyle = colours.text2;
    brush.fillText(clipMiddle(brush, series.label, LABEL_ROOM - 22), at + 21, y);
  }
}

/** Keeps both ends: groups often differ only in their last words. */
function clipMiddle(brush: Brush, text: string, width: number): string {
  if (brush.measureText(text).width <= width) return text;
  for (let n = text.length - 1; n > 3; n--) {
    const head = Math.floor(n * 0.4);
    const short = `${text.slice(0, head)}…${text.slice(text.length - (n - head))}`;
    if (brush.measureText(short).width <= width) return short;
  }
  return '…';
}

export function clip(brush: Brush, text: string, width: number): string {
  if (brush.measureText(text).width <= width) return text;
  let [a, b] = [0, text.length];
  while (a < b) {
    const mid = (a + b + 1) >> 1;
    if (brush.measureText(`${text.slice(0, mid)}…`).width <= width) a = mid;
    else b = mid - 1;
  }
  return `${text.slice(0, a)}…`;
}
