import type {Dashboard} from '../dashboard.ts';

export const panels: Dashboard = {
  id: 'panels',
  aliases: ['reports'],
  title: 'dashboards.panels',
  help: 'dashboards.panels.help',
  key: 'n',
  panel: 'runs',
  applies: have => have.kinds.has('scalar'),
  load: () => import('./Panels.svelte'),
};
