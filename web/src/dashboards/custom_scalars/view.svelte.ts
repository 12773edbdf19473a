// What the custom scalars page shows; kept in the link.
import type {Scale} from '../../data/types.ts';
import {slice} from '../../state/view.svelte.ts';
import type {TimeKind} from '../../text/time-axis.ts';

export interface CustomView {
  x: TimeKind;
  smooth: number; // weight of the exponential mean
  yscale: Scale;
  outliers: boolean;
  toggled: string[]; // categories opened or folded by hand
}

export const view: CustomView = slice<CustomView>('custom', {
  x: 'step',
  smooth: 0.6,
  yscale: 'linear',
  outliers: true,
  toggled: [],
});
