// What the time series page remembers in the link: settings of all cards and what single cards change.
import {DEFAULT_LINES, type LineSettings} from '../../data/chart-series.ts';
import type {Domain} from '../../draw/scale.ts';
import type {Lines} from '../../state/line-question.ts';
import {runs} from '../../state/runs.svelte.ts';
import {slice} from '../../state/view.svelte.ts';
import type {CardSpec} from './sections.ts';

/** What belongs to one card alone. */
export interface CardOwn {
  zoom?: [number, number] | null; // x, when zoom is not linked
  zoomY?: [number, number] | null;
  span?: 'wide' | 'row';
  sel?: [number, number | null] | null; // step or range, when not linked
  table?: boolean;
  set?: Partial<LineSettings>;
}

export interface TimeSeriesView extends LineSettings {
  filter: string;
  link: boolean; // zoom, cursor, range shared
  zoom: [number, number] | null; // shared x range
  restarts: 'newest' | 'all';
  pins: string[];
  combos: string[][]; // charts of several tags
  folds: Record<string, boolean>; // sections whose state differs from the rule "the first two are open"
  cards: Record<string, CardOwn>;
  hideEmpty: boolean;
  values: boolean; // tables of the values at the chosen step under the charts
}

export const view: TimeSeriesView = slice<TimeSeriesView>('ts', {
  ...DEFAULT_LINES,
  filter: '',
  link: true,
  zoom: null,
  restarts: 'newest',
  pins: [],
  combos: [],
  folds: {},
  cards: {},
  hideEmpty: false,
  values: false,
});

export function own(card: string): CardOwn {
  return view.cards[card] ?? {};
}

export function setOwn(card: string, change: CardOwn): void {
  const next: Record<string, unknown> = {...$state.snapshot(view.cards[card] ?? {}), ...change};
  for (const [key, value] of Object.entries(next)) if (value === undefined || value === null) delete next[key];
  if (Object.keys(next).length === 0) delete view.cards[card];
  else view.cards[card] = next as CardOwn;
}

/** The settings a card draws with: its own where it has some, else those of all cards. */
export function settingsOf(card: string): LineSettings {
  const {x, xscale, yscale, smooth, ghost, outliers, ymin, ymax, centre, band, members, share} = view;
  return {
    x,
    xscale,
    yscale,
    smooth,
    ghost,
    outliers,
    ymin,
    ymax,
    centre,
    band,
    members,
    share,
    ...(view.cards[card]?.set ?? {}),
  };
}

/** What a card draws: its tags, of the runs that are shown. */
export function linesOf(card: CardSpec, settings: LineSettings = settingsOf(card.key)): Lines {
  return {
    tags: card.tags,
    settings,
    restarts: view.restarts,
    runs: runs.shown,
    has: runs.isShown,
  };
}

export function change<K extends keyof LineSettings>(card: string | null, key: K, value: LineSettings[K]): void {
  if (card === null) (view as LineSettings)[key] = value;
  else setOwn(card, {set: {...$state.snapshot(own(card).set ?? {}), [key]: value}});
}

export function zoomOf(card: string): {x: Domain | null; y: Domain | null} {
  const mine = own(card);
  const x = settingsOf(card).x === view.x && view.link ? view.zoom : (mine.zoom ?? null);
  return {x: x === null ? null : [x[0], x[1]], y: mine.zoomY ? [mine.zoomY[0], mine.zoomY[1]] : null};
}

export function setZoom(card: string, x: Domain | null, y: Domain | null): void {
  const range = x === null ? null : ([x[0], x[1]] as [number, number]);
  if (settingsOf(card).x === view.x && view.link) {
    view.zoom = range;
    setOwn(card, {zoomY: y === null ? null : [y[0], y[1]]});
  } else setOwn(card, {zoom: range, zoomY: y === null ? null : [y[0], y[1]]});
}

/** Shows everything again: of one card, or of all. */
export function fit(card: string | null): void {
  if (card !== null) return setZoom(card, null, null);
  view.zoom = null;
  for (const key of Object.keys(view.cards)) setOwn(key, {zoom: null, zoomY: null});
}
