// Whether the settings at the right are open: a preference on wide windows; on narrow ones they lie over the
// charts and start closed.
import {preferences} from './preferences.svelte.ts';

const WIDE = 1280;
const inner = $state({width: typeof innerWidth === 'number' ? innerWidth : WIDE, sheet: false});
if (typeof addEventListener === 'function') addEventListener('resize', () => (inner.width = innerWidth));

export const inspector = {
  get open(): boolean {
    return inner.width >= WIDE ? preferences.inspectorOpen : inner.sheet;
  },
  set open(open: boolean) {
    if (inner.width >= WIDE) preferences.inspectorOpen = open;
    else inner.sheet = open;
  },
};
