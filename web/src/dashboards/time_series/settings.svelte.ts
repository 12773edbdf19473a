// What the time series page remembers in the link: settings of all cards and what single cards change.
import type {Scale, Smoothing} from '../../data/types.ts';
import type {Domain} from '../../draw/scale.ts';
import {slice} from '../../state/view.svelte.ts';

export interface CardSettings {
  x: string; // step | relative | wall | tag:<name>
  xscale: Scale;
  yscale: Scale;
  smooth: Smoothing;
  ghost: number; // opacity of the raw line
  outliers: number; // share ignored at each end
  ymin: number | null;
  ymax: number | null;
  centre: 'mean' | 'median';
  band: string; // std | se | minmax | q:0.05,0.95 | q:0.25,0.75 | boot95 | none
  members: 'hide' | 'thin' | 'full';
  share: number; // of a group's runs that its line needs
}

/** What belongs to one card alone. */
export interface CardOwn {
  zoom?: [number, number] | null; // x, when zoom is not linked
  zoomY?: [number, number] | null;
  span?: 'wide' | 'row';
  sel?: [number, number | null] | null; // step or range, when not linked
  table?: boolean;
  set?: Partial<CardSettings>;
}

export interface TimeSeriesView extends CardSettings {
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
  x: 'step',
  xscale: 'linear',
  yscale: 'linear',
  smooth: {kind: 'ema', p: 0.6},
  ghost: 0.28,
  outliers: 0.05,
  ymin: null,
  ymax: null,
  centre: 'mean',
  band: 'std',
  members: 'hide',
  share: 0.6,
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
export function settingsOf(card: string): CardSettings {
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

export function change<K extends keyof CardSettings>(card: string | null, key: K, value: CardSettings[K]): void {
  if (card === null) (view as CardSettings)[key] = value;
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

export function smoothingText(smooth: Smoothing): string {
  if (smooth.kind === 'none' || (smooth.kind === 'ema' && smooth.p === 0)) return '';
  return `${{ema: 'EMA', mean: 'mean', gauss: 'Gauss', none: ''}[smooth.kind]} ${smooth.p}`;
}
