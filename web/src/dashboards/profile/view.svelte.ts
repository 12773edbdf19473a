// The state of the profile pages under the names they use.
export {chooseSession, openTool, openTrace, profileView as view, TRACE} from '../../state/profile.svelte.ts';
