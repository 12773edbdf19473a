// Where everything of a line chart lies: ranges, margins, ticks.
import type {ChartModel} from './chart-model.ts';
import type {ThemeColours} from './theme-colours.ts';
import type {Brush} from './brush.ts';
import {createScale, niceDomain, ticksOf, type Domain, type Scale, type Ticks} from './scale.ts';
import {selectAt} from './select.ts';

export interface ChartLayout {
  readonly width: number;
  readonly height: number;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
  readonly x: Scale;
  readonly y: Scale;
  readonly xTicks: Ticks;
  readonly yTicks: Ticks;
  readonly above: number; // places of the drawn lines above and below the shown range
  readonly below: number;
  /** The same place measured by the axis at the right, where a line has one. */
  readonly second?: ChartLayout | undefined;
  px(x: number): number;
  py(y: number): number;
}

export const TICK_FONT = 10.5;

export interface Margins {
  readonly right?: number;
  readonly top?: number;
  readonly bottom?: number;
  readonly left?: number;
}

export function layoutChart(
  model: ChartModel,
  width: number,
  height: number,
  colours: ThemeColours,
  brush: Brush,
  extra: Margins = {},
): ChartLayout {
  const xDomain = model.xView ?? xRange(model);
  const hasSecond = model.series.some(series => series.second === true);
  const first = hasSecond ? {...model, series: model.series.filter(series => series.second !== true)} : model;
  const {domain: yDomain, above, below} = yRange(first, xDomain);
  const top = 6 + (extra.top ?? 0);
  const bottom = height - 20 - (extra.bottom ?? 0);
  const y = createScale(model.yScale, yDomain);
  const yTicks = ticksOf(y, 'value', Math.max(2, Math.floor((bottom - top) / 40)));
  brush.font = `400 ${TICK_FONT}px ${colours.font}`;
  let widest = 22;
  for (const label of yTicks.labels) widest = Math.max(widest, brush.measureText(label).width);
  const left = Math.ceil(widest) + 12 + (extra.left ?? 0);
  const secondDomain = hasSecond
    ? secondRange(model, xDomain, [yDomain, yRange({...first, yView: null}, xDomain).domain])
    : null;
  const y2 = secondDomain === null ? null : createScale(model.yScale, secondDomain);
  const y2Ticks = y2 === null ? null : ticksOf(y2, 'value', Math.max(2, Math.floor((bottom - top) / 40)));
  let widest2 = y2Ticks === null ? 0 : 34; // with the room between axis and labels
  for (const label of y2Ticks?.labels ?? [])
    widest2 = Math.max(widest2, Math.ceil(brush.measureText(label).width) + 12);
  const right = width - 10 - widest2 - (extra.right ?? 0);
  const x = createScale(model.xScale, xDomain);
  const xTicks = ticksOf(x, model.xKind, Math.max(2, Math.floor((right - left) / (model.xKind === 'wall' ? 76 : 64))));
  const by =
    (scale: Scale) =>
    (v: number): number => {
      const share = scale.at(v);
      // Values that a log axis cannot show lie at the lower edge.
      return share === -Infinity ? bottom : bottom - Math.max(-50, Math.min(51, share)) * (bottom - top);
    };
  const layout: ChartLayout = {
    width,
    height,
    left,
    right,
    top,
    bottom,
    x,
    y,
    xTicks,
    yTicks,
    above,
    below,
    px: v => left + x.at(v) * (right - left),
    py: by(y),
  };
  return y2 === null || y2Ticks === null
    ? layout
    : {...layout, second: {...layout, y: y2, yTicks: y2Ticks, above: 0, below: 0, py: by(y2)}};
}

/** The layout by which a line is measured. */
export function layoutOf(layout: ChartLayout, series: {readonly second?: boolean}): ChartLayout {
  return series.second === true ? (layout.second ?? layout) : layout;
}

/** The range of the axis at the right: fitted; a zoom of the left axis takes the same part of it. */
function secondRange(model: ChartModel, xDomain: Domain, [shown, fitted]: readonly [Domain, Domain]): Domain {
  const only = model.series.filter(series => series.second === true);
  const {domain} = yRange({...model, series: only, yView: null, yEnds: [null, null]}, xDomain);
  if (model.yView === null) return domain;
  const [from, to] = [createScale(model.yScale, fitted), createScale(model.yScale, domain)];
  return [to.value(from.at(shown[0])), to.value(from.at(shown[1]))];
}

function xRange(model: ChartModel): Domain {
  let [lo, hi] = [Infinity, -Infinity];
  if (model.xExtent) [lo, hi] = model.xExtent;
  else {
    for (const series of model.series) {
      const n = series.x.length;
      if (n === 0) continue;
      if (series.parts === true || model.xKind === 'value') {
        for (let i = 0; i < n; i++) {
          const v = series.x[i]!;
          if (v < lo && (model.xScale !== 'log' || v > 0)) lo = v;
          if (v > hi) hi = v;
        }
      } else {
        let i = 0;
        if (model.xScale === 'log') while (i < n - 1 && series.x[i]! <= 0) i++;
        lo = Math.min(lo, series.x[i]!);
        hi = Math.max(hi, series.x[n - 1]!);
      }
    }
  }
  if (!(lo <= hi)) return model.xScale === 'log' ? [1, 10] : [0, 1];
  if (lo === hi)
    return model.xScale === 'log' ? [lo / 2, lo * 2] : model.xKind === 'step' ? [lo - 1, hi + 1] : [lo - 0.5, hi + 0.5];
  return [lo, hi];
}

function withEnds(fitted: Domain, ends: ChartModel['yEnds']): Domain {
  const [lo, hi] = [ends?.[0] ?? fitted[0], ends?.[1] ?? fitted[1]];
  return lo < hi ? [lo, hi] : fitted;
}

/** Whether less is better, by what the tag is called; null when its name does not say. */
export function lessIsBetter(tag: string): boolean | null {
  const name = tag.toLowerCase();
  if (/loss|err|perplexity|ppl|mse|mae|rmse|(^|[/_.-])(time|latency|nll|kl|wer|fid)/.test(name)) return true;
  return /acc|f1|auc|bleu|rouge|reward|return|score|precision|recall|iou|r2|map|throughput/.test(name) ? false : null;
}

/** A fitted range, widened by what it never hides: the last value of every line, its best, and an end that takes little
 *  room. Cutting off an end that is hardly further out than the rest would only hide points. */
function widened(fitted: Domain, model: ChartModel, xRange: Domain): Domain {
  let [lo, hi] = fitted;
  let [bottom, top] = [Infinity, -Infinity];
  for (const {kept, least, most} of endsOfLines(model, xRange)) {
    for (const value of kept) [lo, hi] = [Math.min(lo, value), Math.max(hi, value)];
    [bottom, top] = [Math.min(bottom, least), Math.max(top, most)];
  }
  const at = createScale(model.yScale, [lo, hi]).at; // 0 … 1 on the axis
  return [at(bottom) >= -LITTLE_ROOM ? Math.min(lo, bottom) : lo, at(top) <= 1 + LITTLE_ROOM ? Math.max(hi, top) : hi];
}

/** Of every line: the values to keep in view, and its extremes. */
function* endsOfLines(
  model: ChartModel,
  [x0, x1]: Domain,
): Generator<{kept: readonly number[]; least: number; most: number}> {
  const usable = (value: number | undefined): value is number =>
    value !== undefined && Number.isFinite(value) && (model.yScale !== 'log' || value > 0);
  for (const {x, y, raw, lo, hi, tag} of model.series) {
    let [first, last, least, most] = [NaN, -1, Infinity, -Infinity];
    for (let i = 0; i < y.length; i++) {
      if (x[i]! < x0 || x[i]! > x1) continue;
      const value = (raw ?? y)[i];
      if (!usable(value)) continue;
      if (last < 0) first = value;
      last = i;
      const [low, high] = [lo?.[i] ?? value, hi?.[i] ?? value];
      if (usable(low) && low < least) least = low;
      if (usable(high) && high > most) most = high;
    }
    if (last < 0) continue;
    const end = (raw ?? y)[last]!;
    const best = (lessIsBetter(tag) ?? end <= first) ? least : most;
    yield {kept: usable(y[last]) ? [end, best, y[last]!] : [end, best], least, most};
  }
}

const FEW_VALUES = 60;
const LITTLE_ROOM = 0.5; // of the height of the rest
const MOST_VALUES = 40_000; // enough for quantiles; more would only cost time

function yRange(model: ChartModel, [x0, x1]: Domain): {domain: Domain; above: number; below: number} {
  let count = 0;
  for (const series of model.series) count += series.y.length * (series.bandLo === undefined ? 1 : 3);
  const stride = Math.max(1, Math.ceil(count / MOST_VALUES));
  const values = new Float64Array(Math.ceil(count / stride) + model.series.length * 3);
  let n = 0;
  for (const {x, y, bandLo, bandHi} of model.series) {
    for (let i = 0; i < y.length; i += stride) {
      if (x[i]! < x0 || x[i]! > x1) continue;
      const v = y[i]!;
      if (Number.isFinite(v) && (model.yScale !== 'log' || v > 0)) values[n++] = v;
      if (bandLo !== undefined && bandHi !== undefined) {
        if (Number.isFinite(bandLo[i]!) && (model.yScale !== 'log' || bandLo[i]! > 0)) values[n++] = bandLo[i]!;
        if (Number.isFinite(bandHi[i]!) && (model.yScale !== 'log' || bandHi[i]! > 0)) values[n++] = bandHi[i]!;
      }
    }
  }
  const used = values.subarray(0, n);
  // With a few dozen values every end is an "outlier": the rule would only cut the curve.
  const quantile = model.outliers > 0 && n > FEW_VALUES;
  let [lo, hi] = [NaN, NaN];
  if (model.yView === null) {
    lo = selectAt(used, quantile ? Math.ceil((n - 1) * model.outliers) : 0);
    hi = selectAt(used, quantile ? Math.floor((n - 1) * (1 - model.outliers)) : n - 1);
  }
  if (quantile && model.yView === null) [lo, hi] = widened([lo, hi], model, [x0, x1]);
  const domain = model.yView ?? withEnds(niceDomain(model.yScale, lo, hi), model.yEnds);
  let [above, below] = [0, 0];
  for (let i = 0; i < n; i++) {
    if (used[i]! > domain[1]) above++;
    else if (used[i]! < domain[0]) below++;
  }
  return {domain, above: stride * above, below: stride * below};
}
