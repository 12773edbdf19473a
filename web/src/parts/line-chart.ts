// Rows of a line chart's tooltip: for every series the point nearest in x, in the order the user wants,
// at most so many, always with the hot one.
import type {Picked} from '../draw/chart.ts';
import type {ChartLayout} from '../draw/chart-layout.ts';
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
  readonly hot: boolean;
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

export function tipOf(model: ChartModel, layout: ChartLayout, picked: readonly Picked[], hot: number, pointer: {x: number; y: number}, sort: TipSort, limit: number): Tip | null {
  if (picked.length === 0) return null;
  // A series that ended long before the pointer has nothing to say there.
  const near = picked.filter((pick) => pick.distance <= Math.max(24, (layout.right - layout.left) * 0.12) || picked.length === 1);
  const used = near.length > 0 ? near : picked;
  const distance = (pick: Picked): number => {
    const y = model.series[pick.series]!.y[pick.index]!;
    if (!Number.isFinite(y)) return Infinity;
    const dy = Math.abs(layout.py(y) - pointer.y);
    return sort === 'nearest_y' ? dy : Math.hypot(pick.distance, dy);
  };
  const shownY = (pick: Picked): number => model.series[pick.series]!.y[pick.index]!;
  const nearest = used.map((pick) => ({pick, d: pick.series === hot ? -1 : distance(pick)})).sort((a, b) => a.d - b.d).map(({pick}) => pick);
  const down = (a: Picked, b: Picked): number => (shownY(b) === shownY(a) ? 0 : Number.isNaN(shownY(a)) ? 1 : Number.isNaN(shownY(b)) ? -1 : shownY(b) - shownY(a));
  let rows: Picked[];
  if (sort === 'nearest') rows = nearest.slice(0, limit).sort(down); // the nearest ones, shown in the order of the curves
  else if (sort === 'nearest_y') rows = nearest.slice(0, limit);
  else {
    const order = [...used].sort(sort === 'descending' ? down : sort === 'ascending' ? (a, b) => -down(a, b) : (a, b) => compareNatural(model.series[a.series]!.label, model.series[b.series]!.label));
    const hotAt = order.findIndex((pick) => pick.series === hot);
    rows = order.slice(0, limit);
    if (hotAt >= limit) rows[limit - 1] = order[hotAt]!;
  }
  const lead = used.find((pick) => pick.series === hot) ?? nearest[0]!;
  const leader = model.series[lead.series]!;
  const wall = leader.wall?.[lead.index] ?? null;
  const smoothed = model.series.some((series) => series.raw !== undefined && series.raw !== series.y);
  const band = model.series.some((series) => series.bandLo !== undefined);
  const format = columnFormat(rows.flatMap((pick) => [valueAt(model.series[pick.series]!, pick.index), shownY(pick)]));
  return {
    step: leader.step?.[lead.index] ?? leader.x[lead.index]!,
    wall,
    relative: model.xKind === 'relative' ? leader.x[lead.index]! : wall === null ? null : wall - leader.first,
    total: used.length,
    smoothed: smoothed || band,
    band,
    rows: rows.map((pick) => {
      const series = model.series[pick.series]!;
      const value = valueAt(series, pick.index);
      const spread = series.bandLo === undefined ? '' : `${format(series.bandLo[pick.index]!)} … ${format(series.bandHi![pick.index]!)}`;
      return {
        series: pick.series, index: pick.index, label: series.label, colour: series.colour, smoothed: format(shownY(pick)),
        value: spread !== '' ? spread : band ? '' : format(value), exact: exactValue(value), x: series.x[pick.index]!, hot: pick.series === hot,
      };
    }),
  };
}
