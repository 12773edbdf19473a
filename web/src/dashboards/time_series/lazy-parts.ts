// What stands beside or above the charts: one file of code, fetched after the first paint.
export {default as AddTag} from './AddTag.svelte';
export {default as ExportDialog} from './ExportDialog.svelte';
export {default as Hints} from './Hints.svelte';
export {default as Inspector} from './Inspector.svelte';
export {default as NoteDialog} from './NoteDialog.svelte';
export {default as ValueTable} from './ValueTable.svelte';
