// The shell's parts that come after the first picture.
import {later} from '../state/later.svelte.ts';

export const asked = later(() => import('./later.ts'));
