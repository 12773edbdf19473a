// The state of the profile pages under the names they use.
export {chooseSession, INFORMATION, openTool, openTrace, profileView as view, reportParameters, SQL, TRACE} from '../../state/profile.svelte.ts';
