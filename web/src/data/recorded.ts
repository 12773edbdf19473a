// Answers of the server kept in a file: a saved report draws itself with them, by the same code as the page. The
// container is gzip'd and base64'd: a JSON head (which answer lies where), then the bytes.
import {createClient, type Client} from './client.ts';
import {decodeColumns, encodeColumns, type Column} from './columns.ts';

export type Answers = Map<string, Uint8Array<ArrayBuffer>>;

/** Which answer a question means. The width in pixels and a zoomed range do not count: the file holds one resolution. */
export function answerKey(path: string, body?: unknown): string {
  if (body === undefined) return path;
  const {px: _, range: __, series, group, ...rest} = body as Record<string, unknown>;
  const entries = Array.isArray(series)
    ? (series as {tag?: unknown; expr?: unknown}[]).map(one => one.tag ?? {expr: one.expr})
    : series;
  const {sets, ...band} = (group ?? {}) as Record<string, unknown>;
  return `${path} ${JSON.stringify({...rest, agg: null, tags: entries, group: sets === undefined ? null : band})}`;
}

export const textBytes = (value: unknown): Uint8Array<ArrayBuffer> => new TextEncoder().encode(JSON.stringify(value));

/** The same columns without what can be told from others: of exact series the value is enough. */
export function leanColumns(bytes: ArrayBuffer): Uint8Array<ArrayBuffer> {
  const columns = decodeColumns(bytes);
  if (!columns.series.every(one => one.exact && one.run >= 0)) return new Uint8Array(bytes);
  const {cols, ...head} = columns.head as {cols: Record<string, {t: string}>};
  const kept: Record<string, {t: string; data: Column}> = {};
  for (const name of columns.names)
    if (!['min', 'max', 'mean', 'first', 'smooth'].includes(name))
      kept[name] = {t: cols[name]!.t, data: columns.col(name)!};
  return new Uint8Array(encodeColumns(head, kept));
}

async function through(bytes: Uint8Array<ArrayBuffer>, stream: ReadableWritablePair): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
}

export async function packAnswers(answers: Answers): Promise<string> {
  const places: [string, number][] = [...answers].map(([key, bytes]) => [key, bytes.length]);
  const head = textBytes(places);
  const all = new Uint8Array(await new Blob([new Uint32Array([head.length]), head, ...answers.values()]).arrayBuffer());
  const packed = await through(all, new CompressionStream('gzip'));
  let text = '';
  for (let at = 0; at < packed.length; at += 0x8000) text += String.fromCharCode(...packed.subarray(at, at + 0x8000));
  return btoa(text);
}

export async function unpackAnswers(text: string): Promise<Answers> {
  const packed = Uint8Array.from(atob(text), letter => letter.charCodeAt(0));
  const all = await through(packed, new DecompressionStream('gzip'));
  const length = new DataView(all.buffer).getUint32(0, true);
  const places = JSON.parse(new TextDecoder().decode(all.subarray(4, 4 + length))) as [string, number][];
  const answers: Answers = new Map();
  let at = 4 + length;
  for (const [key, bytes] of places) answers.set(key, all.slice(at, (at += bytes)));
  return answers;
}

/** A client that asks nobody: what is not in the file is not there. */
export function recordedClient(answers: Answers): Client {
  const base = new URL('http://report.invalid/api/v1/');
  const answer = async (url: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
    const path = String(url).slice(base.href.length);
    const body: unknown = typeof init?.body === 'string' ? JSON.parse(init.body) : undefined;
    const bytes = answers.get(answerKey(path, body));
    return bytes === undefined ? new Response('{}', {status: 404}) : new Response(bytes);
  };
  return {
    ...createClient(base, null, answer),
    source: async path => {
      const bytes = answers.get(path);
      return bytes === undefined ? '' : URL.createObjectURL(new Blob([bytes]));
    },
  };
}
