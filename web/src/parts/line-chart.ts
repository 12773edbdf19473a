// Rows of a line chart's tooltip: for every series the point nearest in x, in the order the user wants,
// at most so many, always with the hot one.
import {layoutOf, type ChartLayout} from '../draw/chart-layout.ts';
import type {ChartModel, ChartSeries} from '../draw/chart-model.ts';
import {columnFormat, exactValue} from '../text/format.ts';
import {compareNatural} from '../text/natural.ts';

export type TipSort = 'nearest' | 'nearest_y' | 'ascending' | 'descending' | 'name';

export interface TipRow {
  readonly series: number;
  readonly index: number;
  readonly label: string;
  readonly colour: string;
  readonly smoothed: string;
  readonly value: string;
  readonly exact: string;
  readonly x: number;
  readonly away: number | null; // its own x where that is not the tooltip's
  readonly wall: number | null;
  readonly hot: boolean;
  readonly members: number | null; // runs behind a group's line here
}

export interface Tip {
  readonly step: number;
  readonly wall: number | null;
  readonly relative: number | null;
  readonly rows: readonly TipRow[];
  readonly total: number;
  readonly smoothed: boolean;
  readonly band: boolean;
}

export function valueAt(series: ChartSeries, index: number): number {
  return (series.raw ?? series.y)[index] ?? NaN;
}

/** `at`: for every series the index of the point nearest in x (−1: none). */
export function tipOf(
  model: ChartModel,
  layout: ChartLayout,
  at: ArrayLike<number>,
  hot: number,
  pointer: {x: number; y: number},
  sort: TipSort,
  limit: number,
): Tip | null {
  const used = inReach(model, layout, at, pointer.x);
  if (used.length === 0) return null;
  const shownY = (series: number): number => model.series[series]!.y[at[series]!]!;
  const distance = (series: number): number => {
    if (series === hot) return -1;
    const y = shownY(series);
    if (!Number.isFinite(y)) return Infinity;
    const dy = Math.abs(layoutOf(layout, model.series[series]!).py(y) - pointer.y);
    return sort === 'nearest_y' ? dy : Math.hypot(layout.px(model.series[series]!.x[at[series]!]!) - pointer.x, dy);
  };
  const down = (a: number, b: number): number =>
    shownY(b) === shownY(a) ? 0 : Number.isNaN(shownY(a)) ? 1 : Number.isNaN(shownY(b)) ? -1 : shownY(b) - shownY(a);
  const nearest = smallest(used, distance, limit);
  let rows: number[];
  if (sort === 'nearest')
    rows = [...nearest].sort(down); // the nearest ones, shown in the order of the curves
  else if (sort === 'nearest_y') rows = nearest;
  else {
    const order = [...used].sort(
      sort === 'descending'
        ? down
        : sort === 'ascending'
          ? (a, b) => -down(a, b)
          : (a, b) => compareNatural(model.series[a]!.label, model.series[b]!.label),
    );
    rows = order.slice(0, limit);
    if (order.indexOf(hot) >= limit) rows[limit - 1] = hot;
  }
  const lead = used.includes(hot) ? hot : nearest[0]!;
  const leader = model.series[lead]!;
  const wall = leader.wall?.[at[lead]!] ?? null;
  const smoothed = model.series.some(series => series.raw !== undefined && series.raw !== series.y);
  const band = model.series.some(series => series.bandLo !== undefined);
  const format = columnFormat(rows.flatMap(series => [valueAt(model.series[series]!, at[series]!), shownY(series)]));
  return {
    step: leader.step?.[at[lead]!] ?? leader.x[at[lead]!]!,
    wall,
    relative: model.xKind === 'relative' ? leader.x[at[lead]!]! : wall === null ? null : wall - leader.first,
    total: used.length,
    smoothed: smoothed || band,
    band,
    rows: rows.map(which => {
      const series = model.series[which]!;
      const index = at[which]!;
      const value = valueAt(series, index);
      const spread =
        series.bandLo === undefined ? '' : `${format(series.bandLo[index]!)} … ${format(series.bandHi![index]!)}`;
      return {
        series: which,
        index,
        label: series.label,
        colour: series.colour,
        smoothed: format(shownY(which)),
        value: spread !== '' ? spread : band ? '' : format(value),
        exact: exactValue(value),
        x: series.x[index]!,
        away: series.x[index] === leader.x[at[lead]!] ? null : series.x[index]!,
        wall: series.wall?.[index] ?? null,
        hot: which === hot,
        members: series.members?.[index] ?? null,
      };
    }),
  };
}

/** The series with a point near the pointer: one that ended long before it has nothing to say there. */
function inReach(model: ChartModel, layout: ChartLayout, at: ArrayLike<number>, x: number): number[] {
  const reach = Math.max(24, (layout.right - layout.left) * 0.12);
  const all: number[] = [];
  const near: number[] = [];
  for (let i = 0; i < model.series.length; i++) {
    const index = at[i]!;
    if (index < 0) continue;
    all.push(i);
    if (Math.abs(layout.px(model.series[i]!.x[index]!) - x) <= reach) near.push(i);
  }
  return near.length > 0 ? near : all;
}

/** The `count` members with the smallest measure, smallest first: a thousand series need no full sort. */
function smallest(members: readonly number[], measure: (member: number) => number, count: number): number[] {
  const out: number[] = [];
  const values: number[] = [];
  for (const member of members) {
    const value = measure(member);
    if (out.length === count && !(value < values[count - 1]!)) continue;
    let k = out.length === count ? count - 1 : out.length;
    while (k > 0 && value < values[k - 1]!) {
      out[k] = out[k - 1]!;
      values[k] = values[k - 1]!;
      k--;
    }
    out[k] = member;
    values[k] = value;
  }
  return out;
}
