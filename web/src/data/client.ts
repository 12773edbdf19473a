// Talks to /api/v1. Paths are relative to the page, so any path prefix works. A token in the page's
// URL is kept in memory and sent as a header, because a cross-site frame gets no cookies.
import {embeddedColumns, takeEmbedded} from './embedded-answers.ts';
import {decodeColumns, type Columns} from './columns.ts';
import {sentence} from '../text/format.ts';

/** What the server said went wrong: what, where, what to do. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly where: string;
  readonly fix: string;
  constructor(status: number, code: string, text: string, where = '', fix = '') {
    super(sentence(text));
    this.status = status;
    this.code = code;
    this.where = where;
    this.fix = sentence(fix);
  }
}

export interface AskOptions {
  readonly signal?: AbortSignal | undefined;
}

export interface Client {
  readonly base: URL;
  /** GET, JSON answer. */
  get<T>(path: string, query?: Query, options?: AskOptions): Promise<T>;
  /** GET, JSON answer and its ETag. */
  getTagged<T>(path: string): Promise<{value: T; etag: string}>;
  /** POST without side effect, JSON answer. */
  ask<T>(path: string, body: unknown, options?: AskOptions): Promise<T>;
  /** POST without side effect, SND1 answer. */
  columns(path: string, body: unknown, options?: AskOptions): Promise<Columns>;
  /** GET, SND1 answer. */
  getColumns(path: string, query?: Query, options?: AskOptions): Promise<Columns>;
  /** A write: POST, PATCH, DELETE. */
  send<T>(
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<{value: T; etag: string}>;
  /** The raw answer, errors thrown. */
  raw(path: string, init?: RequestInit): Promise<Response>;
  /** An absolute URL for links and media elements. */
  url(path: string, query?: Query): string;
  /** A URL an <img> or <audio> can load: the plain one, or an object URL when only a header can authorise. */
  source(path: string, query?: Query): Promise<string>;
}

/** A list stands for a name that is given several times. */
export type Query = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/** NaN and infinities travel as strings. */
export function numberOf(value: unknown): number {
  if (typeof value === 'number') return value;
  if (value === 'NaN' || value === null || value === undefined) return NaN;
  return Number(value);
}

export function createClient(base: URL, token: string | null, fetcher: typeof fetch = fetch.bind(globalThis)): Client {
  const tagged = new Map<string, {etag: string; value: unknown}>(); // last answers, for 304

  function url(path: string, query: Query = {}): string {
    const full = new URL(path, base);
    for (const [key, value] of Object.entries(query))
      if (typeof value === 'object') for (const one of value) full.searchParams.append(key, one);
      else if (value !== undefined) full.searchParams.set(key, String(value));
    return full.href;
  }

  async function raw(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    if (token !== null) headers.set('Authorization', `Bearer ${token}`);
    let answer: Response;
    try {
      answer = await (takeEarly(path, init) ??
        fetcher(new URL(path, base).href, {...init, headers, credentials: 'same-origin'}));
    } catch (problem) {
      if (problem instanceof DOMException && problem.name === 'AbortError') throw problem;
      throw new ApiError(0, 'unreachable', 'The server does not answer.');
    }
    if (!answer.ok && answer.status !== 304) throw await errorOf(answer);
    return answer;
  }

  async function getTagged<T>(path: string, options: AskOptions = {}): Promise<{value: T; etag: string}> {
    const embedded = takeEmbedded<T>(path);
    if (embedded !== undefined) return embedded;
    const known = tagged.get(path);
    const answer = await raw(path, {
      ...(known === undefined ? {} : {headers: {'If-None-Match': known.etag}}),
      ...(options.signal === undefined ? {} : {signal: options.signal}),
    });
    if (answer.status === 304 && known !== undefined) return {value: known.value as T, etag: known.etag};
    const etag = answer.headers.get('ETag') ?? '';
    const value = (await answer.json()) as T;
    if (etag !== '') {
      tagged.set(path, {etag, value});
      if (tagged.size > 200) tagged.delete(tagged.keys().next().value!);
    }
    return {value, etag};
  }

  const post = (path: string, body: unknown, options: AskOptions): Promise<Response> =>
    raw(path, {
      method: 'POST',
      headers: {'Content-Type': 'application/json'},
      body: JSON.stringify(body),
      ...(options.signal === undefined ? {} : {signal: options.signal}),
    });

  return {
    base,
    url,
    raw,
    getTagged: path => getTagged(path),
    get: async <T>(path: string, query: Query = {}, options: AskOptions = {}) =>
      (await getTagged<T>(relative(url(path, query), base), options)).value,
    ask: async <T>(path: string, body: unknown, options: AskOptions = {}) =>
      (await post(path, body, options)).json() as Promise<T>,
    columns: async (path, body, options = {}) =>
      decodeColumns(embeddedColumns(path, body as object) ?? (await (await post(path, body, options)).arrayBuffer())),
    getColumns: async (path, query = {}, options = {}) => {
      const init = options.signal === undefined ? {} : {signal: options.signal};
      return decodeColumns(await (await raw(relative(url(path, query), base), init)).arrayBuffer());
    },
    send: async <T>(method: string, path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}) => {
      const answer = await raw(path, {
        method,
        headers: {
          'Sonde-Request': '1',
          ...(body === undefined ? {} : {'Content-Type': 'application/json'}),
          ...headers,
        },
        ...(body === undefined ? {} : {body: JSON.stringify(body)}),
      });
      const text = await answer.text();
      return {value: (text === '' ? null : JSON.parse(text)) as T, etag: answer.headers.get('ETag') ?? ''};
    },
    source: async (path, query = {}) => {
      const href = url(path, query);
      if (token === null) return href;
      return URL.createObjectURL(await (await raw(relative(href, base))).blob());
    },
  };
}

/** What early.js has asked for already: answers by path, and the first cells of a trace. */
export interface Early {
  readonly answers: Record<string, Promise<Response>>;
  view: {readonly session: string; readonly asked: Promise<EarlyView | undefined>} | null;
}
export interface EarlyView {
  readonly wish: {
    readonly t0: number;
    readonly t1: number;
    readonly px: number;
    readonly tracks: readonly number[];
    readonly flat: readonly number[];
    readonly counters: readonly number[];
    readonly argument: string;
  };
  readonly cells: Promise<Response>;
  readonly counters: Promise<Response> | null;
}
export const early = (): Early | undefined => (globalThis as {sondeEarly?: Early}).sondeEarly;

/** The answer that early.js has asked for already, once. */
function takeEarly(path: string, init: RequestInit): Promise<Response> | undefined {
  const answers = early()?.answers;
  const answer = answers?.[path];
  if (answers === undefined || answer === undefined || init.method !== undefined || init.headers !== undefined)
    return undefined;
  delete answers[path];
  return answer;
}

function relative(href: string, base: URL): string {
  return href.startsWith(base.href) ? href.slice(base.href.length) : href;
}

async function errorOf(answer: Response): Promise<ApiError> {
  try {
    const body = (await answer.json()) as {error?: {code?: string; text?: string; where?: string; fix?: string}};
    const error = body.error ?? {};
    return new ApiError(
      answer.status,
      error.code ?? 'internal',
      error.text ?? `The server answered ${answer.status}.`,
      error.where,
      error.fix,
    );
  } catch {
    return new ApiError(answer.status, 'internal', `The server answered ${answer.status} ${answer.statusText}.`);
  }
}

/** The token of the page's URL, taken out of the address bar so that copied links do not carry it. */
export function takeToken(): string | null {
  const here = new URL(location.href);
  const token = here.searchParams.get('token');
  if (token !== null) {
    here.searchParams.delete('token');
    history.replaceState(history.state, '', here.href);
  }
  return token;
}

let shared: Client | undefined;

/** Lets another one answer, in a saved report. */
export function useClient(other: Client): void {
  shared = other;
}

/** The page's one client. */
export function client(): Client {
  shared ??= createClient(new URL('api/v1/', document.baseURI), takeToken());
  return shared;
}
