// Writes event files of scalars, media and graphs: what the tests know exactly.
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const TABLE = new Uint32Array(256).map((_, i) => {
  let c = i;
  for (let k = 0; k < 8; k++) c = c & 1 ? (c >>> 1) ^ 0x82f63b78 : c >>> 1;
  return c >>> 0;
});
function crc(bytes) {
  let c = 0xffffffff;
  for (const byte of bytes) c = TABLE[(c ^ byte) & 255] ^ (c >>> 8);
  c = (c ^ 0xffffffff) >>> 0;
  return (((c >>> 15) | (c << 17)) + 0xa282ead8) >>> 0; // masked
}
function record(data) {
  const out = Buffer.alloc(12 + data.length + 4);
  out.writeBigUInt64LE(BigInt(data.length), 0);
  out.writeUInt32LE(crc(out.subarray(0, 8)), 8);
  data.copy(out, 12);
  out.writeUInt32LE(crc(data), 12 + data.length);
  return out;
}
function varint(value) {
  const out = [];
  let v = BigInt.asUintN(64, BigInt(value));
  do {
    out.push(Number(v & 127n) | (v > 127n ? 128 : 0));
    v >>= 7n;
  } while (v > 0n);
  return Buffer.from(out);
}
const field = (number, bytes) =>
  Buffer.concat([varint((number << 3) | 2), varint(bytes.length), bytes]);
const double = (number, value) => {
  const out = Buffer.alloc(9);
  out[0] = (number << 3) | 1;
  out.writeDoubleLE(value, 1);
  return out;
};
const float = (number, value) => {
  const out = Buffer.alloc(5);
  out[0] = (number << 3) | 5;
  out.writeFloatLE(value, 1);
  return out;
};

const doubles = (number, values) =>
  field(number, Buffer.from(Float64Array.from(values).buffer));
/** A HistogramProto; `buckets` are [right edge, count]. */
function histogram(min, max, buckets) {
  const counts = buckets.map(([, count]) => count);
  const num = counts.reduce((sum, count) => sum + count, 0);
  return Buffer.concat([
    double(1, min),
    double(2, max),
    double(3, num),
    double(4, (num * (min + max)) / 2),
    double(5, (num * (min * min + max * max)) / 2),
    doubles(
      6,
      buckets.map(([right]) => right),
    ),
    doubles(7, counts),
  ]);
}

/** What a tag has at a step: a number, or {value}, {picture: bytes}, {sound: bytes, label}, {text} or {histogram: [min, max, buckets]}, each with a description if wanted. */
function content(value) {
  if (typeof value === "number") return float(2, value);
  if (value.histogram !== undefined)
    return field(5, histogram(...value.histogram));
  const description =
    value.description === undefined
      ? Buffer.alloc(0)
      : field(3, Buffer.from(value.description));
  const about = (plugin) =>
    field(
      9,
      Buffer.concat([
        plugin === ""
          ? Buffer.alloc(0)
          : field(1, field(1, Buffer.from(plugin))),
        description,
      ]),
    );
  if (value.picture !== undefined)
    return Buffer.concat([
      field(
        4,
        Buffer.concat([
          Buffer.from([1 << 3, 1, 2 << 3, 1, 3 << 3, 3]),
          field(4, value.picture),
        ]),
      ),
      about(""),
    ]);
  if (value.label !== undefined) {
    // sounds and their labels, a row each
    const row = (size) => field(2, Buffer.from([1 << 3, size]));
    return Buffer.concat([
      field(
        8,
        Buffer.concat([
          Buffer.from([1 << 3, 7]),
          field(2, Buffer.concat([row(1), row(2)])),
          field(8, value.sound),
          field(8, Buffer.from(value.label)),
        ]),
      ),
      about("audio"),
    ]);
  }
  if (value.sound !== undefined)
    return Buffer.concat([
      field(
        6,
        Buffer.concat([
          float(1, 8000),
          field(4, value.sound),
          field(5, Buffer.from("audio/wav")),
        ]),
      ),
      about(""),
    ]);
  if (value.text !== undefined)
    return Buffer.concat([
      field(
        8,
        Buffer.concat([
          Buffer.from([1 << 3, 7]),
          field(8, Buffer.from(value.text)),
        ]),
      ),
      about("text"),
    ]);
  return Buffer.concat([float(2, value.value), about("")]);
}

/** One event of {tag: content}. */
export function scalars(wall, step, values) {
  const summary = Buffer.concat(
    Object.entries(values).map(([tag, value]) =>
      field(1, Buffer.concat([field(1, Buffer.from(tag)), content(value)])),
    ),
  );
  return record(
    Buffer.concat([
      double(1, wall),
      varint(2 << 3),
      varint(step),
      field(5, summary),
    ]),
  );
}

/** A run's event file; returns its path. `points`: [[step, {tag: value}]…]. */
export function writeRun(logdir, run, points, start = 1.7e9) {
  const dir = join(logdir, run);
  mkdirSync(dir, { recursive: true });
  const path = join(dir, `events.out.tfevents.${Math.round(start)}.host`);
  const head = record(
    Buffer.concat([double(1, start), field(3, Buffer.from("brain.Event:2"))]),
  );
  writeFileSync(
    path,
    Buffer.concat([
      head,
      ...points.map(([step, values]) => scalars(start + step, step, values)),
    ]),
  );
  return path;
}

/** A run with a graph; `nodes`: [{name, op, inputs, attributes: {key: text}}…]. */
export function writeGraph(logdir, run, nodes, start = 1.7e9) {
  const dir = join(logdir, run);
  mkdirSync(dir, { recursive: true });
  const text = (number, value) => field(number, Buffer.from(value));
  const graph = Buffer.concat(
    nodes.map(({ name, op, inputs = [], attributes = {} }) =>
      field(
        1,
        Buffer.concat([
          text(1, name),
          text(2, op),
          ...inputs.map((one) => text(3, one)),
          ...Object.entries(attributes).map(([key, value]) =>
            field(5, Buffer.concat([text(1, key), field(2, text(2, value))])),
          ),
        ]),
      ),
    ),
  );
  const head = record(
    Buffer.concat([double(1, start), field(3, Buffer.from("brain.Event:2"))]),
  );
  writeFileSync(
    join(dir, `events.out.tfevents.${Math.round(start)}.host`),
    Buffer.concat([
      head,
      record(Buffer.concat([double(1, start), field(4, graph)])),
    ]),
  );
}

export function append(path, wall, step, values) {
  appendFileSync(path, scalars(wall, step, values));
}
