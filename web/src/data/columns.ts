// SND1: many series in one binary answer. A JSON head says where the columns lie; every column is one
// typed-array view on the answer's bytes, nothing is copied.

export type Column = Uint8Array | Uint16Array | Uint32Array | BigInt64Array | Float32Array | Float64Array;
export type NumberColumn = Exclude<Column, BigInt64Array>;

export interface SeriesHead {
  readonly run: number;
  readonly tag: number | string;
  readonly n: number; // elements of every column that belong to this series
  readonly offset: number; // of its first element
  readonly total: number; // points in range before thinning
  readonly exact: boolean;
  readonly first: number; // wall time of its first point
}

export interface Columns {
  readonly head: Readonly<Record<string, unknown>>;
  readonly series: readonly SeriesHead[];
  readonly names: readonly string[];
  /** A column by name, or undefined when the server had no reason to send it. */
  col(name: string): Column | undefined;
  /** The part of a numeric column that belongs to one series. */
  part(name: string, series: SeriesHead): NumberColumn | undefined;
}

const MAKERS: Readonly<Record<string, (buffer: ArrayBuffer, offset: number, n: number) => Column>> = {
  u8: (b, o, n) => new Uint8Array(b, o, n),
  u16: (b, o, n) => new Uint16Array(b, o, n),
  u32: (b, o, n) => new Uint32Array(b, o, n),
  i64: (b, o, n) => new BigInt64Array(b, o, n),
  f32: (b, o, n) => new Float32Array(b, o, n),
  f64: (b, o, n) => new Float64Array(b, o, n),
};
const SIZES: Readonly<Record<string, number>> = {u8: 1, u16: 2, u32: 4, i64: 8, f32: 4, f64: 8};

export function decodeColumns(buffer: ArrayBuffer): Columns {
  const view = new DataView(buffer);
  if (buffer.byteLength < 8 || view.getUint32(0, false) !== 0x534e4431)
    throw new Error('the answer does not begin with SND1');
  const headBytes = view.getUint32(4, true);
  const start = 8 + headBytes;
  if (headBytes % 8 !== 0 || start > buffer.byteLength)
    throw new Error(`the head of the answer claims ${headBytes} of ${buffer.byteLength} bytes`);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, headBytes))) as Record<string, unknown>;
  const specs = (head['cols'] ?? {}) as Record<string, {t: string; o: number; n: number}>;
  const columns = new Map<string, Column>();
  for (const [name, spec] of Object.entries(specs)) {
    const make = MAKERS[spec.t];
    const size = SIZES[spec.t];
    if (make === undefined || size === undefined) continue; // a newer server's type
    if (!(spec.o >= 0 && spec.n >= 0 && start + spec.o + spec.n * size <= buffer.byteLength)) {
      throw new Error(`column ${name} lies outside the answer`);
    }
    columns.set(name, make(buffer, start + spec.o, spec.n));
  }
  return {
    head,
    series: seriesOf(head['series']),
    names: [...columns.keys()],
    col: name => columns.get(name),
    part: (name, series) => {
      const column = columns.get(name);
      return column === undefined || column instanceof BigInt64Array
        ? undefined
        : column.subarray(series.offset, series.offset + series.n);
    },
  };
}

function seriesOf(value: unknown): SeriesHead[] {
  if (typeof value !== 'object' || value === null) return [];
  const lists = value as Record<string, readonly (number | string)[] | undefined>;
  const counts = lists['n'] ?? [];
  let offset = 0;
  return counts.map((count, i) => {
    const n = Number(count);
    const one: SeriesHead = {
      run: Number(lists['run']?.[i] ?? -1),
      tag: lists['tag']?.[i] ?? 0,
      n,
      offset,
      total: Number(lists['total']?.[i] ?? n),
      exact: Number(lists['exact']?.[i] ?? 1) === 1,
      first: Number(lists['first']?.[i] ?? 0),
    };
    offset += n;
    return one;
  });
}

/** Writes the same layout: for tests and the mock server. */
export function encodeColumns(
  head: Record<string, unknown>,
  columns: Readonly<Record<string, {t: string; data: Column}>>,
): ArrayBuffer {
  let offset = 0;
  const specs: Record<string, {t: string; o: number; n: number}> = {};
  for (const [name, {t, data}] of Object.entries(columns)) {
    specs[name] = {t, o: offset, n: data.length};
    offset += Math.ceil(data.byteLength / 8) * 8;
  }
  const json = new TextEncoder().encode(JSON.stringify({...head, cols: specs}));
  const headBytes = Math.ceil(json.length / 8) * 8;
  const out = new ArrayBuffer(8 + headBytes + offset);
  const bytes = new Uint8Array(out);
  bytes.fill(32, 8, 8 + headBytes);
  bytes.set(new TextEncoder().encode('SND1'), 0);
  new DataView(out).setUint32(4, headBytes, true);
  bytes.set(json, 8);
  for (const [name, {data}] of Object.entries(columns)) {
    bytes.set(
      new Uint8Array(data.buffer as ArrayBuffer, data.byteOffset, data.byteLength),
      8 + headBytes + specs[name]!.o,
    );
  }
  return out;
}
