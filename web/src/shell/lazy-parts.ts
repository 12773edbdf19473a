// What the shell shows when someone asks for it: one file of code, fetched after the first paint.
export {default as ColourPicker} from './ColourPicker.svelte';
export {default as ColumnFilterBox} from './ColumnFilterBox.svelte';
export {default as ColumnPicker} from './ColumnPicker.svelte';
export {default as GroupRow} from './GroupRow.svelte';
export {default as HelpSheet} from './HelpSheet.svelte';
export {default as NotesDialog} from './NotesDialog.svelte';
export {default as Palette} from './Palette.svelte';
export {default as RegexDialog} from './RegexDialog.svelte';
export {default as RunRow} from './RunRow.svelte';
export {default as SaveView} from './SaveView.svelte';
export {default as TagDialog} from './TagDialog.svelte';
