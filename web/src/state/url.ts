// The view in the address bar: `#<tab>&v=1.<base64url of compact JSON>`, JSON = {slice: {field: value}}
// with only what differs from the defaults. A view above 4 kB is saved with the logs and linked as
// `&v=@<id>`. Links of TensorBoard (query and hash forms) are read, never written.

export type Slices = Record<string, Record<string, unknown>>;

export interface UrlState {
  readonly tab: string;
  readonly slices: Slices;
  readonly saved: string | null; // id of a saved view to load
}

export const LONGEST_VIEW = 4096;

export function encodeView(slices: Slices): string {
  if (Object.keys(slices).length === 0) return '';
  const bytes = new TextEncoder().encode(JSON.stringify(slices));
  let text = '';
  for (const byte of bytes) text += String.fromCharCode(byte);
  return '1.' + btoa(text).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

export function decodeView(text: string): Slices {
  if (!text.startsWith('1.')) return {};
  try {
    const raw = atob(text.slice(2).replaceAll('-', '+').replaceAll('_', '/'));
    const value: unknown = JSON.parse(new TextDecoder().decode(Uint8Array.from(raw, c => c.charCodeAt(0))));
    return isObject(value) ? (value as Slices) : {};
  } catch {
    return {};
  }
}

export function hashOf(tab: string, view: string): string {
  return `#${tab}${view === '' ? '' : `&v=${view}`}`;
}

export function readUrl(href: string): UrlState {
  const url = new URL(href);
  const [tab = '', ...pairs] = url.hash.replace(/^#/, '').split('&');
  const hash = new Map(
    pairs.map(pair => {
      const at = pair.indexOf('=');
      return at < 0 ? [pair, ''] : [pair.slice(0, at), decode(pair.slice(at + 1))];
    }),
  );
  const view = hash.get('v') ?? '';
  const slices = view.startsWith('@') ? {} : decodeView(view);
  legacy(url.searchParams, hash, slices);
  return {tab, slices, saved: view.startsWith('@') ? view.slice(1) : null};
}

const LEGACY_QUERY = ['smoothing', 'tagFilter', 'runFilter', 'runColorGroup', 'pinnedCards'];

/** The address without what was read from TensorBoard's query: once taken over, it must not come back. */
export function withoutLegacy(href: string): string {
  const url = new URL(href);
  for (const key of LEGACY_QUERY) url.searchParams.delete(key);
  return url.href;
}

/** Query and hash parameters of TensorBoard's own links; Sonde's view wins where both speak. */
function legacy(query: URLSearchParams, hash: ReadonlyMap<string, string>, slices: Slices): void {
  const put = (slice: string, field: string, value: unknown): void => {
    slices[slice] = {[field]: value, ...slices[slice]};
  };
  const weight = query.get('smoothing') ?? hash.get('_smoothingWeight');
  if (weight !== undefined && weight !== null && weight !== '' && Number.isFinite(Number(weight))) {
    put('ts', 'smooth', {kind: 'ema', p: Math.max(0, Math.min(0.999, Number(weight)))});
  }
  const tagFilter = query.get('tagFilter') ?? hash.get('tagFilter');
  if (tagFilter) put('ts', 'filter', tagFilter);
  const runFilter = query.get('runFilter') ?? hash.get('regexInput');
  if (runFilter) put('runs', 'filter', runFilter);
  const colour = query.get('runColorGroup');
  if (colour?.startsWith('regex:')) put('runs', 'colour', colour);
  const pins = pinsOf(query.get('pinnedCards'));
  if (pins.length > 0) put('ts', 'pins', pins);
  const selection = hash.get('runSelectionState');
  if (selection) {
    try {
      const chosen = Object.entries(JSON.parse(atob(selection)) as Record<string, unknown>);
      put('runs', 'base', 'all');
      put(
        'runs',
        'flip',
        chosen.filter(([, on]) => on === false).map(([name]) => name),
      );
    } catch {
      // a damaged old link selects nothing special
    }
  }
}

function pinsOf(text: string | null): string[] {
  if (text === null) return [];
  try {
    const list: unknown = JSON.parse(text);
    if (!Array.isArray(list)) return [];
    const pins: string[] = [];
    for (const pin of list as unknown[]) {
      if (!isObject(pin) || typeof pin['tag'] !== 'string' || pin['tag'] === '') continue;
      if (pin['plugin'] === 'scalars' && pin['runId'] === undefined) pins.push(pin['tag']);
    }
    return pins;
  } catch {
    return [];
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
