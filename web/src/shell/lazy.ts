// The shell's parts that come after the first paint.
import {lazy} from '../state/lazy.svelte.ts';

export const lazyParts = lazy(() => import('./lazy-parts.ts'));
