// Trials as columns of numbers: filters, order, statistics and axes of ten thousand rows without a
// question to the server. Texts are numbers too: the index into their sorted names.
import type {HparamColumn, HparamTable} from '../../data/hparams.ts';
import type {Cell} from '../../data/types.ts';
import {columnFormat, exactValue, formatDuration, formatTime, formatValue, trueMinus} from '../../text/format.ts';
import {compareNatural} from '../../text/natural.ts';

export interface Column {
  readonly id: string;
  readonly label: string;
  readonly role: 'hparam' | 'metric' | 'run';
  readonly source: string;
  readonly names: readonly string[] | null; // texts and truth values, sorted; null = numbers
  readonly v: Float64Array; // NaN: not a number, or missing
  readonly has: Uint8Array; // 1 = there is a value
  readonly lo: number; // of the finite ones; NaN without any
  readonly hi: number;
  readonly distinct: readonly number[]; // finite values in order, at most LISTED + 1
  readonly missing: number;
  text(row: number): string;
  exact(row: number): string;
}

/** Keeps rows that have a value and pass what is given; `missing` also or only keeps rows without one. */
export interface TrialFilter {
  col: string;
  in?: string[];
  min?: number;
  max?: number;
  re?: string;
  missing?: 'also' | 'only';
}

/** Numbers with up to this many values get a check list instead of an interval. */
export const LISTED = 10;
/** What a check list shows at most; above it, texts are found by expression. */
export const LONGEST_LIST = 50;

export function roleOf(id: string): Column['role'] {
  return id.startsWith('hparam:') ? 'hparam' : id.startsWith('metric:') ? 'metric' : 'run';
}

/** "metric:val/acc:max" → tag "val/acc", what "max". */
export function metricOf(id: string): {readonly tag: string; readonly what: string} {
  const rest = id.slice(7);
  const at = rest.lastIndexOf(':');
  return {tag: rest.slice(0, at), what: rest.slice(at + 1)};
}

export function labelOf(
  id: string,
  word: (key: string) => string,
  titles: ReadonlyMap<string, string> = new Map(),
): string {
  if (id.startsWith('hparam:')) return titles.get(id) ?? id.slice(7);
  if (!id.startsWith('metric:')) return word(id);
  const {tag, what} = metricOf(id);
  const name = titles.get(`metric:${tag}:last`) ?? tag;
  return what === 'last' ? name : `${name} (${word(what)})`;
}

export function columnOf(head: HparamColumn, cells: readonly Cell[], label: string): Column {
  const n = cells.length;
  const v = new Float64Array(n).fill(NaN);
  const has = new Uint8Array(n);
  let textual = false;
  for (const cell of cells) if (cell !== null && typeof cell !== 'number' && !isOdd(cell)) textual = true;
  let names: string[] | null = null;
  if (textual) {
    const found = new Map<string, number>();
    for (const cell of cells) if (cell !== null) found.set(String(cell), 0);
    names = [...found.keys()].sort(compareNatural);
    names.forEach((name, i) => found.set(name, i));
    cells.forEach((cell, i) => {
      if (cell === null) return;
      v[i] = found.get(String(cell))!;
      has[i] = 1;
    });
  } else {
    cells.forEach((cell, i) => {
      if (cell === null) return;
      v[i] = typeof cell === 'number' ? cell : Number(cell);
      has[i] = 1;
    });
  }
  let [lo, hi, missing] = [Infinity, -Infinity, 0];
  const seen = new Set<number>();
  for (let i = 0; i < n; i++) {
    if (has[i] === 0) missing++;
    const value = v[i]!;
    if (!Number.isFinite(value)) continue;
    if (value < lo) lo = value;
    if (value > hi) hi = value;
    if (seen.size <= LISTED) seen.add(value);
  }
  const format =
    head.type === 'time'
      ? formatTime
      : head.id === 'duration'
        ? formatDuration
        : names !== null
          ? formatValue
          : wholeNumbers(v)
            ? (value: number) => trueMinus(String(value))
            : roleOf(head.id) === 'hparam' && seen.size <= LISTED
              ? fewFormat([...seen])
              : numberFormat(v, lo, hi);
  const word = names;
  return {
    id: head.id,
    label,
    role: roleOf(head.id),
    source: head.source ?? '',
    names,
    v,
    has,
    lo: lo <= hi ? lo : NaN,
    hi: lo <= hi ? hi : NaN,
    distinct: names === null ? [...seen].sort((a, b) => a - b) : names.map((_, i) => i),
    missing,
    text: row => (has[row] === 0 ? '' : word === null ? format(v[row]!) : word[v[row]!]!),
    exact: row => (has[row] === 0 ? '' : word === null ? exactValue(v[row]!) : word[v[row]!]!),
  };
}

/** Seeds, sizes, counts: every digit says something. */
function wholeNumbers(v: Float64Array): boolean {
  return v.every(x => Number.isNaN(x) || (Number.isInteger(x) && Math.abs(x) < 1e15));
}

/** One format a column; values over many decades are written with exponents, fewer with as many decimals as the smallest needs. */
function numberFormat(v: Float64Array, lo: number, hi: number): (value: number) => string {
  if (lo > 0 && hi / lo >= 1000) {
    if (lo >= 1e-4 && hi < 100)
      return value =>
        Number.isFinite(value) ? value.toFixed(lo < 1e-3 ? 5 : 4).replaceAll('-', '\u2212') : formatValue(value);
    return value =>
      Number.isFinite(value) ? value.toExponential(2).replace('e+', 'e').replaceAll('-', '\u2212') : formatValue(value);
  }
  return columnFormat(v);
}

/** Few values: as many decimals as the longest of them needs; very small and large ones each by itself. */
function fewFormat(values: readonly number[]): (value: number) => string {
  const sizes = values.map(value => Math.abs(value)).filter(size => size > 0);
  if (sizes.some(size => size >= 1e6 || size < 1e-3)) return value => formatValue(value);
  const decimals = Math.max(0, ...values.map(value => (String(+value.toPrecision(6)).split('.')[1] ?? '').length));
  return value => (Number.isFinite(value) ? value.toFixed(decimals).replaceAll('-', '\u2212') : formatValue(value));
}

function isOdd(cell: Cell): boolean {
  return cell === 'NaN' || cell === 'Infinity' || cell === '-Infinity';
}

/** What a value is called in a filter's list: texts as they are, numbers with all digits. */
export function keyOf(column: Column, value: number): string {
  return column.names === null ? exactValue(value) : column.names[value]!;
}

/** Whether a column's filter is a check list, an interval or an expression. */
export function filterKind(column: Column): 'list' | 'interval' | 'text' {
  if (column.names !== null) return column.names.length <= LONGEST_LIST ? 'list' : 'text';
  return column.role === 'hparam' && column.distinct.length <= LISTED ? 'list' : 'interval';
}

export function regexOf(source: string): RegExp | null {
  try {
    return new RegExp(source, 'i');
  } catch {
    return null;
  }
}

/** 1 = passes, by row. A broken expression keeps nothing; a column not loaded yet does not count. */
export function passing(columns: ReadonlyMap<string, Column>, filters: readonly TrialFilter[], n: number): Uint8Array {
  const pass = new Uint8Array(n).fill(1);
  for (const filter of filters) {
    const column = columns.get(filter.col);
    if (column === undefined) continue;
    const test = testOf(column, filter);
    const {missing} = filter; // read once: what is read of a state is watched
    const {has, v} = column;
    for (let i = 0; i < n; i++) {
      if (pass[i] === 0) continue;
      if (has[i] === 0) pass[i] = missing === undefined ? 0 : 1;
      else if (missing === 'only' || !test(v[i]!)) pass[i] = 0;
    }
  }
  return pass;
}

function testOf(column: Column, filter: TrialFilter): (value: number) => boolean {
  const keys = filter.in === undefined ? null : new Set(filter.in);
  const regex = filter.re === undefined || filter.re === '' ? undefined : regexOf(filter.re);
  if (column.names !== null) {
    const good = column.names.map(
      name => (keys === null || keys.has(name)) && (regex === undefined || (regex?.test(name) ?? false)),
    );
    return value => good[value]!;
  }
  const {min = -Infinity, max = Infinity} = filter;
  const free = filter.min === undefined && filter.max === undefined;
  return value =>
    (free || (value >= min && value <= max)) &&
    (keys === null || keys.has(exactValue(value))) &&
    (regex === undefined || (regex?.test(exactValue(value)) ?? false));
}

/** All rows of a column by value, equal ones in the order of the server, NaN and missing at the end. */
interface Ascending {
  readonly rows: Int32Array;
  readonly n: number; // how many have a place
}
const orders = new WeakMap<Column, Ascending>(); // a filter must not sort again

function ascending(column: Column): Ascending {
  const known = orders.get(column);
  if (known !== undefined) return known;
  const {v} = column;
  const values = v.filter(value => value === value).sort(); // numbers without a comparator: ten times as quick
  const n = values.length;
  const rows = new Int32Array(v.length);
  const taken = new Int32Array(n);
  let end = n;
  for (let row = 0; row < v.length; row++) {
    const value = v[row]!;
    if (value !== value) {
      rows[end++] = row;
      continue;
    }
    let [lo, hi] = [0, n];
    while (lo < hi) {
      const mid = (lo + hi) >>> 1;
      if (values[mid]! < value) lo = mid + 1;
      else hi = mid;
    }
    rows[lo + taken[lo]!++] = row;
  }
  const made = {rows, n};
  orders.set(column, made);
  return made;
}

/** Rows that pass, sorted; missing and NaN last in both directions, ties in the order of the server. */
export function sorted(pass: Uint8Array, column: Column | undefined, direction: 'asc' | 'desc'): Int32Array {
  const out = new Int32Array(pass.length);
  let count = 0;
  if (column === undefined) {
    for (let row = 0; row < pass.length; row++) if (pass[row] === 1) out[count++] = row;
    return out.subarray(0, count);
  }
  const {rows, n} = ascending(column);
  const take = (from: number, to: number): void => {
    for (let i = from; i < to; i++) if (pass[rows[i]!] === 1) out[count++] = rows[i]!;
  };
  if (direction === 'asc') take(0, n);
  else {
    for (let end = n; end > 0;) {
      const value = column.v[rows[end - 1]!]!;
      let from = end - 1;
      while (from > 0 && column.v[rows[from - 1]!] === value) from--;
      take(from, end);
      end = from;
    }
  }
  take(n, rows.length);
  return out.subarray(0, count);
}

export interface Bars {
  readonly all: readonly number[];
  readonly part: readonly number[]; // those that pass
  readonly most: number;
}

const NO_BIN = 255;
const bins = new WeakMap<Column, Map<string, Uint8Array>>(); // by row; the logarithms are taken once

function binsOf(column: Column, log: boolean, count: number): Uint8Array {
  let made = bins.get(column);
  if (made === undefined) bins.set(column, (made = new Map()));
  const key = `${log} ${count}`;
  const known = made.get(key);
  if (known !== undefined) return known;
  const f = log && column.lo > 0 ? Math.log10 : (x: number): number => x;
  const [a, b] = [f(column.lo), f(column.hi)];
  const out = new Uint8Array(column.v.length).fill(NO_BIN);
  for (let i = 0; i < out.length; i++) {
    if (Number.isFinite(column.v[i]!))
      out[i] = b > a ? Math.min(count - 1, Math.floor(((f(column.v[i]!) - a) / (b - a)) * count)) : count >> 1;
  }
  made.set(key, out);
  return out;
}

/** A small histogram of a column; on `log` in the space of log10. */
export function barsOf(column: Column, pass: Uint8Array, log: boolean, count = 34): Bars {
  const all = new Array<number>(count).fill(0);
  const part = new Array<number>(count).fill(0);
  const bin = binsOf(column, log, count);
  for (let i = 0; i < bin.length; i++) {
    if (bin[i] === NO_BIN) continue;
    all[bin[i]!]!++;
    if (pass[i] === 1) part[bin[i]!]!++;
  }
  return {all, part, most: Math.max(1, ...all)};
}

/** The bars as one path: 6 wide each, `height` high. */
export function barPath(counts: readonly number[], most: number, height: number): string {
  let path = '';
  counts.forEach((n, i) => {
    if (n > 0) path += `M${i * 6 + 0.5} ${height}v${-Math.max(1, (n / most) * (height - 3)).toFixed(1)}h5V${height}z`;
  });
  return path;
}

/** Trials of the table's answer, ready to be drawn. */
export interface Trials {
  readonly rev: number;
  readonly n: number;
  readonly names: readonly string[];
  readonly ids: readonly (readonly number[])[];
  readonly columns: ReadonlyMap<string, Column>;
}

export function trialsOf(answer: HparamTable, label: (id: string) => string): Trials {
  const columns = new Map<string, Column>();
  answer.columns.forEach((head, k) => columns.set(head.id, columnOf(head, answer.data[k] ?? [], label(head.id))));
  const at = answer.columns.findIndex(head => head.id === 'name');
  return {rev: answer.rev, n: answer.ids.length, names: (answer.data[at] ?? []).map(String), ids: answer.ids, columns};
}
