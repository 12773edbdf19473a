// What a link to the page restores: which set and model, which tab, axes, slices, thresholds, the example in
// the editor and its edits.
import {slice} from '../../state/view.svelte.ts';

export type Page = 'explore' | 'performance' | 'features' | 'training';

export const DEFAULTS = {
  set: '',
  edited: [] as string[], // sets that were made here out of others
  model: '',
  label: '',
  page: 'explore' as Page,
  x: '',
  y: '',
  colour: '',
  facet: '', // a panel for each value of this column
  images: true, // in place of points, where there are any
  row: -1, // in the editor
  other: -1, // compared with it
  metric: 'l1' as 'l1' | 'l2' | 'custom',
  by: 'features' as 'features' | 'attributions', // what distances are between
  mutable: [] as string[], // features a counterfactual may change; empty = all
  delta: -1, // regression: how far another answer is; −1 = the deviation of the predictions
  pair: [] as string[], // the two features of the heat map
  edits: {} as Record<string, Record<string, unknown>>, // by row, then feature
  slices: [] as string[],
  buckets: 2,
  cut: 'width' as 'width' | 'frequency',
  cost: 1,
  thresholds: [] as number[], // k of each slice; empty = 50
  slice_sort: 'order' as 'order' | 'count' | 'name' | 'accuracy' | 'fp' | 'fn' | 'f1',
  strategy: '', // '' = custom
  curve: 'roc' as 'roc' | 'pr' | 'calibration',
  against: '', // second set on the features page
  sort: 'order' as 'order' | 'name' | 'drift' | 'missing' | 'uneven',
  chart: 'histogram' as 'histogram' | 'quantiles' | 'cumulative' | 'lengths', // of the features
  log: false, // heights of its bars
  percent: false, // their counts as shares
  tall: false, // the charts
  class: '', // whose curves are shown, of several labels
  step: -1, // of an evaluation; −1 = the last
};
export const view = slice('whatif', DEFAULTS);
