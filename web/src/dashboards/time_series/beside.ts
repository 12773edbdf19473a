// The dashboard's parts that come after the first picture.
import {later} from '../../state/later.svelte.ts';

export const beside = later(() => import('./later.ts'));
