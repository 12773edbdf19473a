// What the hyperparameter page shows; kept in the link.
import {slice} from '../../state/view.svelte.ts';
import type {TrialFilter} from './model.ts';

export type Page = 'table' | 'parallel' | 'scatter' | 'importance' | 'best';

export interface HparamsView {
  page: Page;
  rows: 'groups' | 'sessions';
  aggregate: 'avg' | 'median' | 'min' | 'max';
  columns: string[] | null; // shown, in order; null = chosen by rule
  filters: TrialFilter[];
  status: string[]; // left out
  chosen: boolean; // only trials whose runs are shown on the other pages
  sort: [string, 'asc' | 'desc'] | null; // null = the best first
  objective: string; // metric column; '' = chosen by rule
  goal: '' | 'max' | 'min'; // '' = by the metric's name
  colour: string; // column; '' = the objective
  scales: Record<string, string>; // linear, log, rank
  flipped: string[];
  trial: string; // name of the open one
  method: 'permutation' | 'spearman';
  second: string; // the other metric of the trade-off
}

export const view: HparamsView = slice<HparamsView>('hparams', {
  page: 'parallel',
  rows: 'groups',
  aggregate: 'avg',
  columns: null,
  filters: [],
  status: [],
  chosen: false,
  sort: null,
  objective: '',
  goal: '',
  colour: '',
  scales: {},
  flipped: [],
  trial: '',
  method: 'permutation',
  second: '',
});

export function setFilter(col: string, next: Omit<TrialFilter, 'col'> | null): void {
  const others = view.filters.filter(one => one.col !== col);
  view.filters = next === null ? others : [...others, {col, ...next}];
}

/** Changes part of a filter; one that no longer restricts anything goes away. */
export function changeFilter(col: string, change: Partial<Omit<TrialFilter, 'col'>>): void {
  const {col: _, ...old} = view.filters.find(one => one.col === col) ?? {col};
  const next = Object.fromEntries(
    Object.entries({...old, ...change}).filter(([, value]) => value !== undefined && value !== ''),
  ) as Omit<TrialFilter, 'col'>;
  setFilter(col, Object.keys(next).every(key => key === 'missing' && next.missing === 'also') ? null : next);
}

export function moveColumn(columns: readonly string[], id: string, by: number): void {
  const list = [...columns];
  const at = list.indexOf(id);
  const to = Math.max(0, Math.min(list.length - 1, at + by));
  if (at < 0 || at === to) return;
  list.splice(at, 1);
  list.splice(to, 0, id);
  view.columns = list;
}
