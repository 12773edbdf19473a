// What the viewer shows on request only: one file, loaded then.
export {default as About} from './About.svelte';
export {default as Filter} from './Filter.svelte';
export {default as Finder} from './Finder.svelte';
export {default as Keys} from './Keys.svelte';
