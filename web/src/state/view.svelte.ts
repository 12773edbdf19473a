// What a copied link restores. A part of the page owns a slice: an object of plain JSON fields with
// defaults. Slices are reactive; what differs from the defaults is written to the URL, and every
// change can be undone.
import {untrack} from 'svelte';
import {client} from '../data/client.ts';
import type {Sidecar} from '../data/types.ts';
import {encodeView, hashOf, LONGEST_VIEW, readUrl, withoutLegacy, type Slices} from './url.ts';

type Plain = Record<string, unknown>;
interface Owned {
  readonly state: Plain;
  readonly defaults: Plain;
}

const owned = new Map<string, Owned>();
const first = readUrl(location.href);
let waiting: Slices = first.slices; // from the URL, for slices that do not exist yet

const place = $state({tab: first.tab, slices: 0}); // slices: how many exist, for the effect that watches them

/** The dashboard in view; setting it makes a history entry. */
export const tab = {
  get id(): string {
    return place.tab;
  },
  go(id: string): void {
    if (id === place.tab) return;
    place.tab = id;
    history.pushState(null, '', hashOf(id, currentView()));
  },
  /** The shell's correction of an empty or unknown tab: no history entry. */
  settle(id: string): void {
    place.tab = id;
    history.replaceState(null, '', hashOf(id, currentView()));
  },
};

/** A reactive object kept in the URL under `key`. Values must be plain JSON. Call once per key. */
export function slice<T extends object>(key: string, defaults: T): T {
  const known = owned.get(key);
  if (known !== undefined) return known.state as T;
  const state = $state(structuredClone(defaults));
  owned.set(key, {state: state as Plain, defaults: defaults as Plain});
  untrack(() => place.slices++);
  const pending = waiting[key];
  if (pending !== undefined) untrack(() => apply(key, pending));
  return state;
}

function apply(key: string, fields: Plain): void {
  const one = owned.get(key);
  if (one === undefined) return;
  for (const [field, fallback] of Object.entries(one.defaults)) {
    const value = field in fields && fits(fields[field], fallback) ? fields[field] : fallback;
    if (JSON.stringify(value) !== JSON.stringify($state.snapshot(one.state[field])))
      one.state[field] = structuredClone(value);
  }
}

/** Sets fields of a slice that another part of the page owns, whether it exists already or not. */
export function navigate(key: string, fields: Plain): void {
  const one = owned.get(key);
  if (one !== undefined) Object.assign(one.state, fields);
  else waiting = {...waiting, [key]: {...waiting[key], ...fields}};
}

/** A link may be old or written by hand: a field of another kind is not taken. */
function fits(value: unknown, fallback: unknown): boolean {
  if (fallback === null || value === null) return true;
  return typeof value === typeof fallback && Array.isArray(value) === Array.isArray(fallback);
}

export function currentSlices(): Slices {
  void place.slices;
  const out: Slices = {...waiting};
  for (const [key, {state, defaults}] of owned) {
    const changed: Plain = {};
    for (const [field, fallback] of Object.entries(defaults)) {
      const value = $state.snapshot(state[field]);
      if (JSON.stringify(value) !== JSON.stringify(fallback)) changed[field] = value;
    }
    if (Object.keys(changed).length > 0) out[key] = changed;
    else delete out[key];
  }
  return out;
}

export function applySlices(slices: Slices): void {
  waiting = slices;
  for (const key of owned.keys()) apply(key, slices[key] ?? {});
}

let savedId = first.saved ?? '';
function currentView(): string {
  const text = encodeView(currentSlices());
  return text.length > LONGEST_VIEW && savedId !== '' ? `@${savedId}` : text;
}

const past: string[] = [];
const future: string[] = [];
let last = '';
let changed = -Infinity; // when the last entry was made or grew
let undoing = false;
const ONE_CHANGE_MS = 250;
const WRITE_MS = 250; // the address bar is slow: a first change is written at once, the ticks of a wheel after the last

export const undoStack = {
  undo: () => step(past, future),
  redo: () => step(future, past),
};

function step(from: string[], to: string[]): boolean {
  const text = from.pop();
  if (text === undefined) return false;
  to.push(last);
  undoing = true;
  applySlices(JSON.parse(text) as Slices);
  return true;
}

/** Keeps the URL and the undo list up to date. Called once by the shell; returns the stop function. */
export function keepUrl(): () => void {
  let timer = 0;
  let touched = -Infinity; // when something changed last
  last = JSON.stringify(currentSlices());
  if (withoutLegacy(location.href) !== location.href)
    history.replaceState(null, '', new URL(hashOf(place.tab, currentView()), withoutLegacy(location.href)));
  const stop = $effect.root(() => {
    $effect(() => {
      const text = JSON.stringify(currentSlices());
      if (text === last) return;
      // What follows within a moment (a wheel, a slider) is the same change.
      const now = performance.now();
      if (!undoing) {
        if (now - changed > ONE_CHANGE_MS) past.push(last);
        if (past.length > 100) past.shift();
        future.length = 0;
      }
      changed = undoing ? -Infinity : now;
      undoing = false;
      last = text;
      clearTimeout(timer);
      timer = window.setTimeout(() => void writeUrl(), now - touched > WRITE_MS ? 0 : WRITE_MS);
      touched = now;
    });
  });
  const onPop = (): void => {
    const state = readUrl(location.href);
    place.tab = state.tab;
    if (state.saved === null) applySlices(state.slices);
    else void loadSaved(state.saved);
  };
  addEventListener('popstate', onPop);
  addEventListener('hashchange', onPop);
  if (first.saved !== null) void loadSaved(first.saved);
  return () => {
    stop();
    removeEventListener('popstate', onPop);
    removeEventListener('hashchange', onPop);
  };
}

async function writeUrl(): Promise<void> {
  const text = encodeView(currentSlices());
  if (text.length > LONGEST_VIEW) {
    savedId = await digest(text);
    try {
      await client().send('PATCH', 'sidecar', {views: {[savedId]: {name: '', state: text}}});
    } catch {
      savedId = ''; // no sidecar: the long form still restores the view
    }
  }
  history.replaceState(null, '', hashOf(place.tab, currentView()));
}

/** The link to this view, complete even while the address bar lags behind. */
export function linkHere(): string {
  const url = new URL(location.href);
  url.hash = hashOf(place.tab, currentView());
  return url.href;
}

export async function loadSaved(id: string): Promise<void> {
  const {value} = await client().getTagged<Sidecar>('sidecar');
  const view = value.views?.[id];
  if (view !== undefined) applySlices(readUrl(`http://x/#t&v=${view.state}`).slices);
}

async function digest(text: string): Promise<string> {
  let hash = 0xcbf29ce484222325n;
  for (let i = 0; i < text.length; i++) hash = BigInt.asUintN(64, (hash ^ BigInt(text.charCodeAt(i))) * 0x100000001b3n);
  return `auto-${hash.toString(36)}`;
}
