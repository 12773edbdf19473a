// What the histograms page shows; kept in the link. Shared by histograms and distributions.
import {slice} from '../../state/view.svelte.ts';
import type {TimeKind} from '../../text/time-axis.ts';

import type {HistogramMode} from '../../parts/histogram-picture.ts';
export type {HistogramMode};

export interface HistogramsView {
  filter: string;
  mode: HistogramMode;
  time: TimeKind;
  height: 'density' | 'count';
  colour: 'log' | 'linear';
  join: boolean; // overlay and quantiles: all runs of a tag in one card
}

export const view: HistogramsView = slice<HistogramsView>('hist', {
  filter: '',
  mode: 'offset',
  time: 'step',
  height: 'count',
  colour: 'log',
  join: false,
});

/** Links from when distributions had a filter, a time axis and cards of their own. */
export function takeOldLink(): void {
  const old = slice<{filter: string; time: TimeKind; join: boolean}>('dist', {filter: '', time: 'step', join: false});
  if (old.filter !== '') view.filter = old.filter;
  if (old.time !== 'step') view.time = old.time;
  if (old.join) view.join = true;
  Object.assign(old, {filter: '', time: 'step', join: false});
}
