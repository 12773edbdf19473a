// What a link to a graph restores: which graph, what is open, what is chosen, how it is coloured.
import {slice} from '../../state/view.svelte.ts';

export const view = slice('graph', {
  graph: '',
  metadata: '',
  scope: '', // '' = the whole graph; a scope or a library function otherwise
  open: [] as string[],
  aside: [] as string[],
  inside: [] as string[],
  node: '',
  colour: 'structure' as 'none' | 'structure' | 'device' | 'cluster' | 'time' | 'memory',
});
