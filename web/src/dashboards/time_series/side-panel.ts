// The dashboard's parts that come after the first paint.
import {lazy} from '../../state/lazy.svelte.ts';

export const sidePanel = lazy(() => import('./lazy-parts.ts'));
