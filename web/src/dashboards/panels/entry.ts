import type {Dashboard} from '../dashboard.ts';

export const panels: Dashboard = {
  id: 'panels',
  aliases: ['reports'],
  title: 'dashboards.panels',
  help: 'dashboards.panels.help',
  key: 'n',
  panel: 'runs',
  applies: have => ['scalar', 'image', 'histogram', 'text'].some(kind => have.kinds.has(kind)),
  load: () => import('./Panels.svelte'),
};
