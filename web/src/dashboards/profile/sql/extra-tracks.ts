// Rows of a query as tracks of the trace viewer: slices or a counter, one track or one for each value of a column.
import {numberOf} from '../../../data/client.ts';
import {plain, type Cell, type ReportColumn, type ReportTable} from '../../../data/profile.ts';
import type {CounterView, SliceDetail, TraceView, TrackInfo, ViewRow} from '../../../data/trace.ts';
import type {ExtraQuery} from '../../../state/profile.svelte.ts';
import {cellText} from '../cells.ts';

const MOST_TRACKS = 50;
const MOST_DEPTH = 32;
const PS_IN_MS = 1e9;
const ROUNDING = 2; // ps: milliseconds that follow each other may overlap by that much
/** Numbers that say where a row is, not how much of something there was. */
const PLACES = new Set(['id', 'track', 'depth', 'parent', 'slice', 'ts', 'dur', 'start_ms', 'time_ms', 'dur_ms']);

export interface Shape {
  readonly slices: boolean; // has times
  readonly counter: boolean; // has a number besides
  readonly pivots: readonly string[];
}

const at = (columns: readonly ReportColumn[], names: readonly string[]): number =>
  columns.findIndex(column => names.includes(column.id));
const isNumber = (column: ReportColumn): boolean => column.type === 'number';
const valueAt = (columns: readonly ReportColumn[]): number => {
  const named = columns.findIndex(column => column.id === 'value' && isNumber(column));
  return named >= 0 ? named : columns.findIndex(column => isNumber(column) && !PLACES.has(column.id));
};

/** What a result can be shown as. */
export function shapeOf(table: ReportTable): Shape {
  const timed = at(table.columns, ['ts', 'start_ms', 'time_ms']) >= 0;
  return {
    slices: timed,
    counter: timed && valueAt(table.columns) >= 0,
    pivots: timed
      ? table.columns
          .filter(column => !['ts', 'dur', 'start_ms', 'time_ms', 'dur_ms'].includes(column.id))
          .map(column => column.id)
      : [],
  };
}

/** A place among what the trace has already: the first number that is free. */
export interface Free {
  readonly track: number;
  readonly label: number;
  readonly slice: number;
}

interface ExtraSlice {
  readonly begin: number;
  readonly dur: number;
  readonly depth: number;
  readonly name: number; // label
  readonly row: number;
}

export interface ExtraTracks {
  readonly tracks: readonly TrackInfo[]; // a header, then the others
  readonly names: readonly string[]; // of labels from free.label on
  /** Cells of the part of time a view shows, put behind its own. */
  into(view: TraceView): TraceView;
  readonly counters: readonly CounterView[];
  detail(slice: number): SliceDetail | undefined;
}

interface Built {
  readonly name: string;
  readonly slices: readonly ExtraSlice[];
  readonly points: readonly (readonly [number, number])[];
}

/** Rows by the value of a column, in the order in which the values come. */
function groups(table: ReportTable, by: string): Map<string, number[]> {
  const column = at(table.columns, [by]);
  const found = new Map<string, number[]>();
  table.rows.forEach((row, i) => {
    const key = column < 0 ? '' : cellText(plain(row[column] ?? null));
    const list = found.get(key);
    if (list !== undefined) list.push(i);
    else if (found.size < MOST_TRACKS) found.set(key, [i]);
  });
  return found;
}

function build(table: ReportTable, query: ExtraQuery, label: (name: string) => number): Built[] {
  const {columns, rows} = table;
  const time = at(columns, ['ts', 'start_ms', 'time_ms']);
  if (time < 0) return [];
  const duration = at(columns, ['dur', 'dur_ms']);
  const named = columns.findIndex(column => column.id === 'name');
  const name = named >= 0 ? named : columns.findIndex(column => !isNumber(column));
  const value = valueAt(columns);
  const scale = (column: number): number => (columns[column]!.id.endsWith('_ms') ? PS_IN_MS : 1);
  const cell = (row: number, column: number): Cell => plain(rows[row]![column] ?? null);
  const picos = (row: number, column: number): number => (column < 0 ? 0 : numberOf(cell(row, column)) * scale(column));
  return [...groups(table, query.by)].map(([key, members]) => {
    const title = key === '' ? query.title : `${query.title} · ${key}`;
    const order = members
      .filter(row => Number.isFinite(picos(row, time)))
      .sort((a, b) => picos(a, time) - picos(b, time) || picos(b, duration) - picos(a, duration) || a - b);
    if (query.kind === 'counter')
      return {
        name: title,
        slices: [],
        points: order
          .map(row => [picos(row, time), numberOf(cell(row, value))] as const)
          .filter(([, y]) => Number.isFinite(y)),
      };
    const open: number[] = [];
    const slices = order.map((row): ExtraSlice => {
      const [begin, dur] = [picos(row, time), Math.max(0, picos(row, duration) || 0)];
      while (open.length > 0 && open[open.length - 1]! <= begin + ROUNDING) open.pop();
      const depth = Math.min(MOST_DEPTH - 1, open.length);
      if (dur > 0) open.push(begin + dur);
      return {begin, dur, depth, name: label(name < 0 ? query.title : cellText(cell(row, name))), row};
    });
    return {name: title, slices, points: []};
  });
}

const joined = <T extends Uint32Array | Uint8Array>(own: T, more: readonly number[], make: (n: number) => T): T => {
  const all = make(own.length + more.length);
  all.set(own);
  all.set(more, own.length);
  return all;
};

export function extraTracks(
  results: readonly {readonly query: ExtraQuery; readonly table: ReportTable}[],
  free: Free,
  header: string,
): ExtraTracks {
  const names: string[] = [];
  const labels = new Map<string, number>();
  const label = (name: string): number => {
    const known = labels.get(name);
    if (known !== undefined) return known;
    labels.set(name, free.label + names.length);
    names.push(name);
    return free.label + names.length - 1;
  };
  const built = results.flatMap(({query, table}) => build(table, query, label).map(one => ({...one, table, query})));
  const head: TrackInfo = {
    id: free.track,
    name: header,
    kind: 'process',
    order: -1e9,
    slices: 0,
    points: 0,
    depth: 0,
    busy: 0,
  };
  const tracks = built.map((one, i): TrackInfo => ({
    id: free.track + 1 + i,
    name: one.name,
    kind: one.query.kind === 'counter' ? 'counter' : 'thread',
    parent: free.track,
    order: i,
    slices: one.slices.length,
    points: one.points.length,
    depth: one.slices.reduce((most, slice) => Math.max(most, slice.depth + 1), 0),
    busy: 0,
  }));
  const ids: {readonly track: number; readonly from: number}[] = [];
  let next = free.slice;
  built.forEach((one, i) => {
    ids.push({track: i, from: next});
    next += one.slices.length;
  });
  return {
    tracks: built.length === 0 ? [] : [head, ...tracks],
    names,
    into(view) {
      const [start, dur, name, slice, busy]: [number[], number[], number[], number[], number[]] = [[], [], [], [], []];
      const rows: ViewRow[] = [...view.rows];
      built.forEach((one, i) => {
        for (let depth = 0; depth < tracks[i]!.depth; depth++) {
          const from = view.start.length + start.length;
          one.slices.forEach((part, n) => {
            if (part.depth !== depth || part.begin + part.dur < view.t0 || part.begin > view.t1) return;
            const [a, b] = [Math.max(part.begin, view.t0), Math.min(part.begin + part.dur, view.t1)];
            start.push(Math.floor((a - view.t0) / view.tick));
            dur.push(Math.floor((b - a) / view.tick));
            name.push(part.name);
            slice.push(ids[i]!.from + n);
            busy.push(255);
          });
          rows.push({track: tracks[i]!.id, depth, from, to: view.start.length + start.length, exact: true});
        }
      });
      const u32 = (n: number): Uint32Array => new Uint32Array(n);
      return {
        ...view,
        rows,
        start: joined(view.start, start, u32),
        dur: joined(view.dur, dur, u32),
        name: joined(view.name, name, u32),
        slice: joined(view.slice, slice, u32),
        busy: joined(view.busy, busy, n => new Uint8Array(n)),
        mark:
          view.mark === null
            ? null
            : joined(
                view.mark,
                start.map(() => 0),
                u32,
              ),
      };
    },
    counters: built.flatMap((one, i): CounterView[] => {
      if (one.points.length === 0) return [];
      const values = Float64Array.from(one.points, ([, y]) => y);
      return [
        {track: tracks[i]!.id, t: Float64Array.from(one.points, ([x]) => x), min: values, max: values, last: values},
      ];
    }),
    detail(slice) {
      const owner = ids.findLast(one => one.from <= slice);
      const one = owner === undefined ? undefined : built[owner.track];
      const part = one?.slices[slice - owner!.from];
      if (one === undefined || part === undefined) return undefined;
      const place = {
        slice,
        name: names[part.name - free.label] ?? '',
        track: tracks[owner!.track]!.id,
        depth: part.depth,
        begin: part.begin,
        dur: part.dur,
      };
      const args = one.table.columns.map(
        (column, c) =>
          [column.label || column.id, cellText(plain(one.table.rows[part.row]![c] ?? null), column.unit)] as const,
      );
      return {...place, self: part.dur, args, parents: [], flows: []};
    },
  };
}
