// What a link to a profile page restores: session, host, tool, baseline, and the place in the trace.
import {slice} from '../../state/view.svelte.ts';

export const view = slice('profile', {
  session: '',
  host: '',
  tool: '',
  baseline: '',
  t0: null as number | null, // ps
  t1: null as number | null,
  slice: null as number | null,
  find: '',
});

export const TRACE = 'trace_viewer';
