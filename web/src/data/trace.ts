// The trace viewer's questions (docs/api.md, Trace). Times are picoseconds as numbers: exact to 2^53 ps
// (2.5 hours) from the trace's start, beyond any capture a viewer opens.
import {client, early, numberOf, type AskOptions, type EarlyView} from './client.ts';
import {decodeColumns, type Columns} from './columns.ts';

export interface TrackInfo {
  readonly id: number;
  readonly name: string;
  readonly kind: 'process' | 'thread' | 'stream' | 'counter' | 'async' | 'aggregate';
  readonly parent?: number;
  readonly order: number;
  readonly slices: number;
  readonly points: number;
  readonly depth: number;
  readonly busy: number;
}

export interface TraceInfo {
  readonly format: string;
  readonly t0: number;
  readonly t1: number;
  readonly slices: number;
  readonly flows: number;
  readonly arrows: boolean; // whether slices may be connected
  readonly start_ns?: number | string;
  readonly names: number; // how many
  readonly tracks: readonly TrackInfo[];
  readonly diagnostics: readonly string[];
}

export interface SliceInfo {
  readonly slice: number;
  readonly name: string;
  readonly track: number;
  readonly depth: number;
  readonly begin: number;
  readonly dur: number;
}

export interface SliceDetail extends SliceInfo {
  readonly self: number;
  readonly category?: string;
  readonly args: readonly (readonly [string, string])[];
  readonly parents: readonly SliceInfo[];
  readonly flows: readonly (SliceInfo & {readonly direction: 'to' | 'from'; readonly kind?: string})[];
  readonly next?: number; // slice of the same row
  readonly previous?: number;
  readonly launched?: {readonly count: number; readonly time: number; readonly slices: readonly SliceInfo[]};
}

/** A piece of time, and the tracks it is about (null: all). */
export interface Area {
  readonly t0: number;
  readonly t1: number;
  readonly tracks: readonly number[] | null;
}
/** An area and those added to it: time under several of them counts once. */
export interface Areas extends Area {
  readonly also: readonly Area[];
}

/** A group of slices: of a name, a track, a category … `id` is null for those without one. */
export interface GroupTotal {
  readonly name: string;
  readonly id: number | null;
  readonly count: number;
  readonly total: number;
  readonly self: number;
  readonly mean: number;
  readonly min: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

export interface FlameNode {
  readonly name: string;
  readonly parent?: number;
  readonly count: number;
  readonly total: number;
  readonly self: number;
}

export interface CounterTotal {
  readonly track: number;
  readonly points: number;
  readonly min: number;
  readonly max: number;
  readonly mean: number;
  readonly first: number;
  readonly last: number;
  readonly integral: number; // value × seconds
}

/** How call stacks are put together; texts as in search, empty: not used. */
export interface FlameShape {
  readonly direction: 'down' | 'up';
  readonly pivot: string;
  readonly keep_stack: string;
  readonly drop_stack: string;
  readonly drop_frame: string;
}

/** What the capture says of itself, and what there is to choose from. */
export interface TraceAbout {
  readonly format: string;
  readonly host: string;
  readonly file: string;
  readonly file_bytes: number;
  readonly start_ns?: number | string;
  readonly slices: number;
  readonly points: number;
  readonly flows: number;
  readonly metadata: readonly (readonly [string, string])[];
  readonly diagnostics: readonly {readonly severity: 'info' | 'warning' | 'error'; readonly text: string}[];
  readonly categories: readonly (readonly [string, number])[];
  readonly arguments: readonly (readonly [string, number])[];
  readonly kinds: readonly (readonly [string, number])[];
}

/** The names of slices by label, and which category each is of (-1: none). */
export interface TraceNames {
  readonly names: readonly string[];
  readonly categories: readonly string[];
  readonly category: readonly number[];
}
export const NO_NAMES: TraceNames = {names: [], categories: [], category: []};

/** One row of cells: `from` … `to` in the columns. */
export interface ViewRow {
  readonly track: number;
  readonly depth: number;
  readonly from: number;
  readonly to: number;
  readonly exact: boolean;
}

export interface TraceView {
  readonly t0: number;
  readonly t1: number;
  readonly tick: number;
  readonly folded: boolean;
  readonly rows: readonly ViewRow[];
  readonly start: Uint32Array;
  readonly dur: Uint32Array;
  readonly name: Uint32Array;
  readonly slice: Uint32Array;
  readonly busy: Uint8Array;
  readonly mark: Uint32Array | null; // of the value of the argument asked for; 0: none
}

export interface CounterView {
  readonly track: number;
  readonly t: Float64Array;
  readonly min: Float64Array;
  readonly max: Float64Array;
  readonly last: Float64Array;
}

/** The steps of a capture, and the wall clock (seconds since 1970) of its time 0 if it was recorded. */
export interface TraceSteps {
  readonly start: number | null;
  readonly t0: number;
  readonly t1: number;
  readonly steps: readonly {readonly name: string; readonly begin: number; readonly end: number}[];
}

export interface FlowEnd {
  readonly slice: number;
  readonly track: number;
  readonly depth: number;
  readonly begin: number;
  readonly dur: number;
}
export interface FlowArrow {
  readonly kind?: string;
  readonly from: FlowEnd;
  readonly to: FlowEnd;
}

export const MERGED = 0xffffffff;

const numbers = <T extends SliceInfo>(one: T): T => ({...one, begin: numberOf(one.begin), dur: numberOf(one.dur)});

const bodyOf = ({t0, t1, tracks}: Area): Record<string, unknown> => ({
  t0: Math.floor(t0),
  t1: Math.ceil(t1),
  ...(tracks === null ? {} : {tracks}),
});
const areasOf = (areas: Areas): Record<string, unknown> => ({
  ...bodyOf(areas),
  ...(areas.also.length === 0 ? {} : {also: areas.also.map(bodyOf)}),
});

export interface TraceSource {
  info(options?: AskOptions): Promise<TraceInfo>;
  /** Names by label, page by page: `onpage` is given all known so far. */
  names(onpage: (names: TraceNames) => void, options?: AskOptions): Promise<void>;
  /** `flat` tracks give their outermost slices only; `argument` asks for marks of its values. */
  view(
    t0: number,
    t1: number,
    px: number,
    rows: {readonly tracks: readonly number[]; readonly flat: readonly number[]; readonly argument?: string},
    options?: AskOptions,
  ): Promise<TraceView>;
  counters(
    t0: number,
    t1: number,
    px: number,
    tracks: readonly number[],
    options?: AskOptions,
  ): Promise<readonly CounterView[]>;
  slice(id: number): Promise<SliceDetail>;
  search(
    q: string,
    where: Area | null,
    page: {readonly after: number | null; readonly limit: number; readonly px: number},
    options?: AskOptions,
  ): Promise<{total: number; hits: readonly SliceInfo[]; per_px: readonly number[]}>;
  /** `by`: name, track, process, category or argument:<key>. */
  stats(areas: Areas, by: string, options?: AskOptions): Promise<{total: number; rows: readonly GroupTotal[]}>;
  counterStats(areas: Areas, options?: AskOptions): Promise<readonly CounterTotal[]>;
  about(options?: AskOptions): Promise<TraceAbout>;
  flame(
    areas: Areas,
    shape: FlameShape,
    options?: AskOptions,
  ): Promise<{nodes: readonly FlameNode[]; left_out: number}>;
  steps(options?: AskOptions): Promise<TraceSteps>;
  /** Arrows with an end in the range, at most `limit`; total says how many there are. */
  flows(
    t0: number,
    t1: number,
    limit: number,
    kind: string,
    options?: AskOptions,
  ): Promise<{total: number; flows: readonly FlowArrow[]}>;
  exportUrl(t0: number, t1: number, tracks?: readonly number[]): string;
}

function viewFrom(answer: Columns): TraceView {
  const head = answer.head as {
    t0: unknown;
    t1: unknown;
    tick_ps: unknown;
    folded: boolean;
    rows: {track: number[]; depth: number[]; n: number[]; exact: number[]};
  };
  let from = 0;
  const drawn = head.rows.track.map((track, i) => {
    const row = {track, depth: head.rows.depth[i]!, from, to: from + head.rows.n[i]!, exact: head.rows.exact[i] === 1};
    from = row.to;
    return row;
  });
  const u32 = (name: string): Uint32Array => answer.col(name) as Uint32Array;
  return {
    t0: numberOf(head.t0),
    t1: numberOf(head.t1),
    tick: numberOf(head.tick_ps),
    folded: head.folded,
    rows: drawn,
    start: u32('start'),
    dur: u32('dur'),
    name: u32('name'),
    slice: u32('slice'),
    busy: answer.col('busy') as Uint8Array,
    mark: (answer.col('mark') as Uint32Array | undefined) ?? null,
  };
}

function countersFrom(answer: Columns): readonly CounterView[] {
  const head = answer.head as {rows: {track: number[]; n: number[]}};
  const f64 = (name: string): Float64Array => answer.col(name) as Float64Array;
  let from = 0;
  return head.rows.track.map((track, i) => {
    const to = from + head.rows.n[i]!;
    const part = (name: string): Float64Array => f64(name).subarray(from, to);
    const view = {track, t: part('t'), min: part('min'), max: part('max'), last: part('last')};
    from = to;
    return view;
  });
}

/** The first cells of a session, asked for before the viewer's code was there; once, and null when nobody asked. */
export async function earlyCells(
  session: string,
  host: number,
): Promise<{wish: EarlyView['wish']; cells: TraceView; counters: readonly CounterView[]} | null> {
  const holder = early();
  const asked = holder?.view?.session === session && host === 0 ? holder.view.asked : undefined;
  if (holder !== undefined) holder.view = null;
  const found = await asked;
  if (found === undefined) return null;
  const read = async (answer: Response): Promise<Columns> => {
    if (!answer.ok) throw new Error(answer.statusText);
    return decodeColumns(await answer.arrayBuffer());
  };
  const [cells, counters] = await Promise.all([found.cells.then(read), found.counters?.then(read)]);
  return {wish: found.wish, cells: viewFrom(cells), counters: counters === undefined ? [] : countersFrom(counters)};
}

/** Instead of a host's number: all of them on one axis. */
export const EVERY_HOST = -1;
export const hostWord = (host: number): number | 'all' => (host === EVERY_HOST ? 'all' : host);

export function traceSource(session: string, host: number): TraceSource {
  const query = {session, host: hostWord(host)};
  const at = (path: string): string => `trace/${path}?session=${encodeURIComponent(session)}&host=${hostWord(host)}`;
  const rowsOf = (tracks: readonly number[]): unknown => tracks.map(track => ({track}));
  return {
    info: async options => {
      const info = await client().get<TraceInfo>('trace/tracks', query, options);
      return {
        ...info,
        t0: numberOf(info.t0),
        t1: numberOf(info.t1),
        tracks: info.tracks.map(track => ({...track, busy: numberOf(track.busy)})),
      };
    },
    names: async (onpage, options) => {
      let known = NO_NAMES;
      for (let total = 1; known.names.length < total;) {
        const page = await client().get<{total: number} & Partial<TraceNames>>(
          'trace/names',
          {...query, from: known.names.length},
          options,
        );
        const {names = [], categories = [], category = []} = page;
        known = {names: [...known.names, ...names], categories, category: [...known.category, ...category]};
        total = names.length === 0 ? 0 : page.total;
        onpage(known);
      }
    },
    view: async (t0, t1, px, {tracks, flat, argument = ''}, options) => {
      const rows = [...tracks.map(track => ({track})), ...flat.map(track => ({track, depth: [0, 0]}))];
      const answer = await client().columns(
        at('view'),
        {t0: Math.floor(t0), t1: Math.ceil(t1), px, rows, ...(argument === '' ? {} : {argument})},
        options,
      );
      return viewFrom(answer);
    },
    counters: async (t0, t1, px, tracks, options) => {
      if (tracks.length === 0) return [];
      const answer = await client().columns(
        at('counters'),
        {t0: Math.floor(t0), t1: Math.ceil(t1), px, rows: rowsOf(tracks)},
        options,
      );
      return countersFrom(answer);
    },
    slice: async id => {
      const detail = await client().get<SliceDetail>('trace/slice', {...query, id});
      return {
        ...numbers(detail),
        self: numberOf(detail.self),
        parents: detail.parents.map(numbers),
        flows: detail.flows.map(numbers),
        ...(detail.launched === undefined
          ? {}
          : {
              launched: {
                ...detail.launched,
                time: numberOf(detail.launched.time),
                slices: detail.launched.slices.map(numbers),
              },
            }),
      };
    },
    search: async (q, where, {after, limit, px}, options) => {
      const answer = await client().ask<{total: number; hits: readonly SliceInfo[]; per_px: readonly number[]}>(
        at('search'),
        {q, limit, px, ...(where === null ? {} : bodyOf(where)), ...(after === null ? {} : {after})},
        options,
      );
      return {...answer, hits: answer.hits.map(numbers)};
    },
    stats: async (areas, by, options) => {
      const answer = await client().ask<{
        total: number;
        rows: readonly (Omit<GroupTotal, 'id'> & {id?: number; label?: number})[];
      }>(at('stats'), {...areasOf(areas), by}, options);
      return {
        total: answer.total,
        rows: answer.rows.map(row => ({
          ...row,
          id: row.label ?? row.id ?? null,
          min: numberOf(row.min),
          total: numberOf(row.total),
          self: numberOf(row.self),
          p50: numberOf(row.p50),
          p99: numberOf(row.p99),
          max: numberOf(row.max),
        })),
      };
    },
    counterStats: async (areas, options) => {
      const {rows} = await client().ask<{rows: readonly CounterTotal[]}>(at('counter_stats'), areasOf(areas), options);
      return rows.map(row => ({
        ...row,
        min: numberOf(row.min),
        max: numberOf(row.max),
        mean: numberOf(row.mean),
        first: numberOf(row.first),
        last: numberOf(row.last),
        integral: numberOf(row.integral),
      }));
    },
    about: options => client().get<TraceAbout>('trace/about', query, options),
    flame: async (areas, shape, options) => {
      const answer = await client().ask<{nodes: readonly FlameNode[]; left_out: number}>(
        at('flame'),
        {...areasOf(areas), ...shape},
        options,
      );
      return {
        ...answer,
        nodes: answer.nodes.map(node => ({...node, total: numberOf(node.total), self: numberOf(node.self)})),
      };
    },
    steps: async options => {
      const answer = await client().get<{
        start_ns?: number | string;
        t0: unknown;
        t1: unknown;
        steps: readonly {name: string; begin: unknown; end: unknown}[];
      }>('trace/steps', query, options);
      return {
        start: answer.start_ns === undefined ? null : numberOf(answer.start_ns) / 1e9,
        t0: numberOf(answer.t0),
        t1: numberOf(answer.t1),
        steps: answer.steps.map(step => ({name: step.name, begin: numberOf(step.begin), end: numberOf(step.end)})),
      };
    },
    flows: async (t0, t1, limit, kind, options) => {
      const answer = await client().ask<{total: number; flows: readonly FlowArrow[]}>(
        at('flows'),
        {t0: Math.floor(t0), t1: Math.ceil(t1), limit, kind},
        options,
      );
      const end = (one: FlowEnd): FlowEnd => ({...one, begin: numberOf(one.begin), dur: numberOf(one.dur)});
      return {
        total: answer.total,
        flows: answer.flows.map(flow => ({...flow, from: end(flow.from), to: end(flow.to)})),
      };
    },
    exportUrl: (t0, t1, tracks = []) => {
      const url = new URL(client().url('trace/export', {...query, t0: Math.floor(t0), t1: Math.ceil(t1)}));
      for (const track of tracks) url.searchParams.append('track', String(track));
      return url.href;
    },
  };
}
