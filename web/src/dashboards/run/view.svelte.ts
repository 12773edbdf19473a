// Which run the page shows and which one stands beside it: part of the link.
import {slice} from '../../state/view.svelte.ts';

export const runPage = slice('run', {run: '', with: ''});
