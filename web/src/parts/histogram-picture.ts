// One picture of a histogram card: which drawing routine, where the pointer is in it, what the tooltip
// says. A plain object per set of data; the card only forwards events.
import type {HistogramAnswer} from '../data/histograms.ts';
import type {Run} from '../data/types.ts';
import {type BandSeries, drawBands, pickBands} from '../draw/bands.ts';
import {drawHeat, type HeatLayout, pickHeat} from '../draw/heatmap.ts';
import {BASIS_POINTS, commonRange, equalEdges, rebinSeries, rowTotal} from '../draw/histogram.ts';
import {nearestAnywhere, nearestRun} from '../draw/nearest.ts';
import {drawOutlines, type Outline, pickOutline} from '../draw/histogram-lines.ts';
import type {InOrder} from '../draw/in-order.ts';
import type {ThemeColours} from '../draw/theme-colours.ts';
import {mapColour, type LineStyle} from '../draw/palette.ts';
import {type Plane, type Size, xOf, yOf} from '../draw/plane.ts';
import {drawRidge, pickRidge, type RidgeLayout} from '../draw/ridge.ts';
import {axisFormat} from '../text/format.ts';
import {t} from '../text/messages.ts';
import {timeLabels, timeShort, type TimeKind} from '../text/time-axis.ts';

export type HistogramMode = 'offset' | 'heat' | 'overlay' | 'quantiles';

/** Place of the pointer: which run of the card, which step, which bin (or percentile). */
export interface Spot {
  readonly part: number;
  readonly step: number;
  readonly bin: number;
}

export interface Part extends InOrder<HistogramAnswer> {
  readonly run: Run;
  readonly style: LineStyle;
}

export interface PictureOptions {
  readonly mode: HistogramMode;
  readonly time: TimeKind;
  readonly density: boolean;
  readonly logColour: boolean;
  readonly parts: readonly Part[];
  readonly joined: boolean;
  readonly linked: number | null; // a step
  readonly linkedEnd?: number | null; // the other end of a linked range of steps
}

export interface Picture {
  draw(g: CanvasRenderingContext2D, size: Size, colours: ThemeColours, spot: Spot | null): void;
  pick(x: number, y: number): Spot | null;
  /** Where the tooltip of a spot stands. */
  place(spot: Spot): {x: number; y: number};
  rows(spot: Spot): [string, number][];
  /** The spot reached by arrow keys: `vertical` changes bins where time runs to the right. */
  move(spot: Spot | null, by: number, vertical: boolean): Spot | null;
}

export function createPicture(options: PictureOptions): Picture {
  const make = {offset: ridge, heat, overlay, quantiles}[options.mode];
  return make(options);
}

const FAR = 1e9; // px
const clamp = (v: number, most: number): number => Math.max(0, Math.min(most, v));

function linkedIndex(part: Part | undefined, linked: number | null): number {
  return part === undefined || linked === null ? -1 : nearestAnywhere(part.series.steps, linked);
}

/** Indices of the first and last step in the linked range; null without one. */
export function rangeOf(
  steps: ArrayLike<number>,
  from: number | null,
  to: number | null | undefined,
): [number, number] | null {
  if (from === null || to === null || to === undefined) return null;
  let [first, last] = [-1, -1];
  for (let i = 0; i < steps.length; i++) {
    if (steps[i]! < Math.min(from, to) || steps[i]! > Math.max(from, to)) continue;
    if (first < 0) first = i;
    last = i;
  }
  return first < 0 ? null : [first, last];
}

function binRowsOf(part: Part | undefined, spot: Spot): [string, number][] {
  if (part === undefined) return [];
  const {series} = part;
  const bins = series.edges.length - 1;
  const count = series.counts[spot.step * bins + spot.bin] ?? 0;
  const total = rowTotal(series, spot.step);
  return [
    [t('histograms.from'), series.edges[spot.bin]!],
    [t('histograms.to'), series.edges[spot.bin + 1]!],
    [t('histograms.col.count'), count],
    [t('histograms.share'), total > 0 ? (count / total) * 100 : 0],
  ];
}

/** Arrow keys where both axes are free: time one way, bins the other. */
function moveIn(part: Part | undefined, linked: number | null) {
  return (spot: Spot | null, by: number, alongBins: boolean): Spot | null => {
    if (part === undefined) return null;
    const bins = part.series.edges.length - 1;
    const from = spot ?? {part: 0, step: Math.max(0, linkedIndex(part, linked)), bin: bins >> 1};
    return alongBins
      ? {...from, bin: clamp(from.bin + by, bins - 1)}
      : {...from, step: clamp(from.step + by, part.series.steps.length - 1)};
  };
}

function ridge({parts, time, density, linked, linkedEnd}: PictureOptions): Picture {
  const part = parts[0];
  let layout: RidgeLayout | null = null;
  const move = moveIn(part, linked);
  return {
    draw: (g, size, colours, spot) => {
      if (part === undefined) return;
      layout = drawRidge(g, size, part.series, {
        colours,
        times: part.times,
        timeLabel: timeShort(time, part.times),
        valueLabels: axisFormat,
        density,
        hover: spot,
        selected: linkedEnd == null ? linkedIndex(part, linked) : -1,
        range: rangeOf(part.series.steps, linked, linkedEnd),
      });
    },
    pick: (x, y) => {
      const found = layout && pickRidge(layout, x, y);
      return found && {part: 0, ...found};
    },
    place: ({step, bin}) => {
      if (layout === null || part === undefined) return {x: 0, y: 0};
      const bins = part.series.edges.length - 1;
      return {
        x: xOf(layout.plane, (part.series.edges[bin]! + part.series.edges[bin + 1]!) / 2),
        y: layout.baselines[step]! - layout.heights[step * bins + bin]!,
      };
    },
    rows: spot => binRowsOf(part, spot),
    move: (spot, by, vertical) => move(spot, by, !vertical),
  };
}

function heat({parts, time, density, logColour, linked, linkedEnd}: PictureOptions): Picture {
  const part = parts[0];
  let layout: HeatLayout | null = null;
  const move = moveIn(part, linked);
  return {
    draw: (g, size, colours, spot) => {
      if (part === undefined) return;
      layout = drawHeat(g, size, part.series, {
        colours,
        times: part.times,
        strands: part.strands,
        timeLabels: timeLabels(time),
        wholeTimes: time === 'step',
        valueLabels: axisFormat,
        density,
        logColour,
        quantiles: [0.05, 0.5, 0.95],
        selected: linkedEnd == null ? linkedIndex(part, linked) : -1,
        range: rangeOf(part.series.steps, linked, linkedEnd),
        hover: spot,
      });
    },
    pick: (x, y) => {
      const found = layout && part && pickHeat(layout, part.series, x, y);
      return found ? {part: 0, ...found} : null;
    },
    place: ({step, bin}) =>
      layout === null || part === undefined
        ? {x: 0, y: 0}
        : {x: layout.borders[step + 1]!, y: yOf(layout.plane, part.series.edges[bin]!)},
    rows: spot => binRowsOf(part, spot),
    move: (spot, by, vertical) => move(spot, vertical ? -by : by, vertical),
  };
}

/** One run: all its steps as outlines, old ones pale. Several runs: each at the linked or newest step. */
function overlay({parts, density, joined, linked, linkedEnd}: PictureOptions): Picture {
  let plane: Plane | null = null;
  let lo = Infinity;
  let hi = -Infinity;
  for (const {series} of parts)
    [lo, hi] = [Math.min(lo, series.edges[0]!), Math.max(hi, series.edges[series.edges.length - 1]!)];
  const [from, to] = commonRange(lo, hi);
  const edges = joined && parts.length > 1 ? equalEdges(from, to, 60) : null;
  const cut = parts.map(part => (edges === null ? part.series : rebinSeries(part.series, edges)));
  const spots: {part: number; step: number}[] = [];
  parts.forEach((part, i) => {
    const n = part.series.steps.length;
    const at = linkedIndex(part, linked);
    if (joined) spots.push({part: i, step: at >= 0 ? at : n - 1});
    else {
      const [from, to] = rangeOf(part.series.steps, linked, linkedEnd) ?? [0, n - 1];
      for (let s = from; s <= to; s++) spots.push({part: i, step: s});
    }
  });
  const lines = (dark: boolean): Outline[] =>
    spots.map(({part: i, step}) => {
      const series = cut[i]!;
      const bins = series.edges.length - 1;
      const row = series.counts.subarray(step * bins, (step + 1) * bins);
      const total = density ? rowTotal(series, step) : 1;
      const n = series.steps.length;
      const share = n > 1 ? step / (n - 1) : 1;
      return {
        colour: joined ? parts[i]!.style.colour : mapColour('seq', dark ? 0.3 + 0.6 * share : 0.3 + 0.6 * share, dark),
        dash: joined ? parts[i]!.style.dash : [],
        strong: !joined && linked !== null && linkedEnd == null && step === linkedIndex(parts[i], linked),
        edges: series.edges,
        heights: total > 0 ? row.map(c => c / total) : row,
      };
    });
  let drawn: Outline[] = [];
  const lineOf = (spot: Spot): number => spots.findIndex(one => one.part === spot.part && one.step === spot.step);
  return {
    draw: (g, size, colours, spot) => {
      drawn = lines(colours.dark);
      const line = spot === null ? -1 : lineOf(spot);
      plane = drawOutlines(g, size, drawn, {
        colours,
        valueLabels: axisFormat,
        countLabels: axisFormat,
        hover: spot !== null && line >= 0 ? {line, bin: spot.bin} : null,
      });
    },
    pick: (x, y) => {
      const found = plane && pickOutline(plane, drawn, x, y);
      return found ? {...spots[found.line]!, bin: found.bin} : null;
    },
    place: spot => {
      const line = drawn[lineOf(spot)];
      if (plane === null || line === undefined) return {x: 0, y: 0};
      return {
        x: xOf(plane, (line.edges[spot.bin]! + line.edges[spot.bin + 1]!) / 2),
        y: yOf(plane, line.heights[spot.bin]!),
      };
    },
    rows: spot => {
      const part = parts[spot.part];
      return part === undefined ? [] : binRowsOf({...part, series: {...part.series, ...cut[spot.part]!}}, spot);
    },
    move: (spot, by, vertical) => {
      const first = spots[spots.length - 1];
      if (first === undefined) return null;
      const now = spot ?? {...first, bin: 30};
      if (!vertical) return {...now, bin: clamp(now.bin + by, cut[now.part]!.edges.length - 2)};
      return {...spots[clamp(lineOf(now) + by, spots.length - 1)]!, bin: now.bin};
    },
  };
}

function quantiles({parts, time, linked, linkedEnd}: PictureOptions): Picture {
  let plane: Plane | null = null;
  const bands: BandSeries[] = parts.map(({style, times, strands, series}) => ({
    colour: style.colour,
    times,
    strands,
    percentiles: series.percentiles,
  }));
  const timeAt = (spot: Spot | null): number | null =>
    spot === null ? null : (parts[spot.part]?.times[spot.step] ?? null);
  return {
    draw: (g, size, colours, spot) => {
      const at = linkedIndex(parts[0], linked);
      const range = parts[0] === undefined ? null : rangeOf(parts[0].series.steps, linked, linkedEnd);
      const timeOf = (index: number): number | null => parts[0]?.times[index] ?? null;
      plane = drawBands(g, size, bands, {
        colours,
        timeLabels: timeLabels(time),
        wholeTimes: time === 'step',
        valueLabels: axisFormat,
        hover: timeAt(spot),
        selected: at < 0 || range !== null ? null : timeOf(at),
        range: range === null ? null : [timeOf(range[0])!, timeOf(range[1])!],
      });
    },
    pick: (x, y) => {
      const found = plane === null ? null : pickBands(plane, bands, x, y);
      if (found === null) return null;
      // Of several runs the one whose median is nearest to the pointer speaks.
      let best = {part: -1, step: 0, bin: 4};
      let least = Infinity;
      parts.forEach((part, i) => {
        const [first, end] = nearestRun(part.times, found);
        for (let step = first; step < end; step++) {
          const away = Math.abs(yOf(plane!, part.series.percentiles[step * 9 + 4]!) - y);
          const rank = Number.isNaN(away) ? FAR : away; // a step without values speaks where no other is
          if (rank < least) [best, least] = [{part: i, step, bin: 4}, rank];
        }
      });
      return best.part < 0 ? null : best;
    },
    place: spot => ({
      x: plane === null ? 0 : xOf(plane, timeAt(spot) ?? 0),
      y: plane === null ? 0 : (plane.top + plane.bottom) / 2,
    }),
    rows: ({part, step}) =>
      BASIS_POINTS.map((bp, k): [string, number] => [
        bp === 0
          ? t('histograms.col.min')
          : bp === 10000
            ? t('histograms.col.max')
            : bp === 5000
              ? t('histograms.median')
              : `${+(bp / 100).toFixed(2)}\u202f%`,
        parts[part]!.series.percentiles[step * 9 + k]!,
      ]).reverse(),
    move: (spot, by) => {
      const part = parts[spot?.part ?? 0];
      if (part === undefined) return null;
      const last = part.series.steps.length - 1;
      return {part: spot?.part ?? 0, bin: 4, step: clamp((spot?.step ?? (by > 0 ? -1 : last + 1)) + by, last)};
    },
  };
}
