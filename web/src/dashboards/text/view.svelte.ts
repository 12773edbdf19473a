// What the text page shows; kept in the link.
import {slice} from '../../state/view.svelte.ts';

export interface TextView {
  filter: string;
  mode: 'step' | 'list' | 'diff';
  raw: boolean;
  q: string;
  against: 'before' | 'first';
}

export const view: TextView = slice<TextView>('text', {filter: '', mode: 'list', raw: false, q: '', against: 'before'});
