// Where a value lies on an axis: linear, logarithmic, by rank, or one place a text. 0 is the low end.
import {createScale, ticksOf} from '../../draw/scale.ts';
import {middleEllipsis} from '../../text/format.ts';
import type {Column, TrialFilter} from './model.ts';

export type AxisChoice = 'linear' | 'log' | 'rank';

export interface Axis {
  readonly column: Column;
  readonly choice: AxisChoice | 'category';
  readonly at: Float64Array; // by row; NaN = missing or not a number
  readonly holes: boolean;
  readonly ticks: readonly {readonly p: number; readonly label: string}[];
  /** Place of a value, 0…1. */
  place(value: number): number;
  /** The filter that a stretch of the axis stands for. */
  filter(from: number, to: number): Pick<TrialFilter, 'in' | 'min' | 'max'>;
}

/** Logarithmic when asked for or when the values span two decades; only if all are above 0. */
export function choiceOf(column: Column, chosen: string | undefined): AxisChoice | 'category' {
  if (column.names !== null) return 'category';
  if (chosen === 'linear' || chosen === 'rank') return chosen;
  if (chosen === 'log') return column.lo > 0 ? 'log' : 'linear';
  return column.role === 'hparam' && column.lo > 0 && column.hi / column.lo >= 100 ? 'log' : 'linear';
}

export function axisOf(column: Column, chosen: string | undefined, flipped: boolean, ticks = 7): Axis {
  const choice = choiceOf(column, chosen);
  const base =
    choice === 'category'
      ? categories(column)
      : choice === 'rank'
        ? ranks(column, ticks)
        : numbers(column, choice, ticks);
  const turn = flipped ? (p: number): number => 1 - p : (p: number): number => p;
  const place = (value: number): number => turn(base.place(value));
  let holes = false;
  const at = new Float64Array(column.v.length);
  for (let i = 0; i < at.length; i++) {
    at[i] = Number.isFinite(column.v[i]!) ? place(column.v[i]!) : NaN;
    if (Number.isNaN(at[i]!)) holes = true;
    if (choice === 'category') at[i]! += jitter(i) / Math.max(1, column.names!.length);
  }
  return {
    column,
    choice,
    at,
    holes,
    place,
    ticks: base.ticks.map(tick => ({...tick, p: turn(tick.p)})),
    filter: (from, to) => {
      const [a, b] = [turn(from), turn(to)];
      return base.filter(Math.min(a, b), Math.max(a, b));
    },
  };
}

/** ±25 % of a slot, the same for a row at every drawing. */
function jitter(row: number): number {
  return ((((row * 37) % 19) - 9) / 19) * 0.5;
}

interface Base {
  readonly ticks: readonly {readonly p: number; readonly label: string}[];
  place(value: number): number;
  filter(a: number, b: number): Pick<TrialFilter, 'in' | 'min' | 'max'>;
}

function categories(column: Column): Base {
  const names = column.names!;
  const n = Math.max(1, names.length);
  const every = Math.ceil(n / 24);
  return {
    place: value => (value + 0.5) / n,
    ticks: names
      .map((name, i) => ({p: (i + 0.5) / n, label: middleEllipsis(name, 18)}))
      .filter((_, i) => i % every === 0),
    filter: (a, b) => ({in: names.filter((_, i) => (i + 0.5) / n >= a && (i + 0.5) / n <= b)}),
  };
}

function numbers(column: Column, kind: 'linear' | 'log', count: number): Base {
  let [lo, hi] = [column.lo, column.hi];
  if (!(lo < hi))
    [lo, hi] = lo === 0 || Number.isNaN(lo) ? [-1, 1] : [Math.min(lo / 2, lo * 1.5), Math.max(lo / 2, lo * 1.5)];
  const scale = createScale(kind, [lo, hi]);
  const few = column.role === 'hparam' && column.distinct.length <= 8 ? column.distinct : null; // few values: each is a tick
  const made =
    few === null
      ? ticksOf(scale, 'value', count)
      : {values: few, labels: few.map(v => String(+v.toPrecision(4)).replaceAll('-', '\u2212'))};
  return {
    place: value => scale.at(value),
    ticks: made.values
      .map((value, i) => ({p: scale.at(value), label: made.labels[i]!}))
      .filter(tick => tick.p >= -0.001 && tick.p <= 1.001),
    filter: (a, b) => ({
      ...(a <= 0 ? {} : {min: tidy(scale.value(a))}),
      ...(b >= 1 ? {} : {max: tidy(scale.value(b))}),
    }),
  };
}

function ranks(column: Column, count: number): Base {
  const values = [...new Set(column.v)].filter(Number.isFinite).sort((a, b) => a - b);
  const n = Math.max(1, values.length - 1);
  const find = (value: number): number => {
    let [lo, hi] = [0, values.length];
    while (lo < hi) {
      const mid = (lo + hi) >>> 1;
      if (values[mid]! < value) lo = mid + 1;
      else hi = mid;
    }
    return lo / n;
  };
  const shown = Array.from(
    {length: Math.min(count, values.length)},
    (_, i) => values[Math.round((i / Math.max(1, Math.min(count, values.length) - 1)) * (values.length - 1))]!,
  );
  const value = (p: number): number => values[Math.max(0, Math.min(values.length - 1, Math.round(p * n)))]!;
  return {
    place: find,
    ticks: shown.map(one => ({p: find(one), label: String(+one.toPrecision(3)).replaceAll('-', '\u2212')})),
    filter: (a, b) => ({...(a <= 0 ? {} : {min: value(a)}), ...(b >= 1 ? {} : {max: value(b)})}),
  };
}

/** Brushes give round numbers: four digits are finer than a pixel. */
function tidy(value: number): number {
  return +value.toPrecision(4);
}
