// The state of the profile pages under the names they use.
export {
  ALL_HOSTS,
  chooseSession,
  CRITICAL_PATH,
  INFORMATION,
  openTool,
  openTrace,
  profileView as view,
  reportParameters,
  SQL,
  toggleCriticalPath,
  TRACE,
} from '../../state/profile.svelte.ts';

const titles = $state<Record<string, string>>({});
/** What people call a tool; known once the tools of a session are listed. */
export const toolTitle = (id: string): string => titles[id] ?? id;
export function nameTools(tools: readonly {readonly id: string; readonly title: string}[]): void {
  for (const tool of tools) titles[tool.id] = tool.title;
}
