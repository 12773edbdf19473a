import type {Dashboard} from '../dashboard.ts';

export const files: Dashboard = {
  id: 'files',
  title: 'dashboards.files',
  help: 'dashboards.files.help',
  key: 'f',
  neverFirst: true,
  panel: 'none',
  applies: () => true,
  load: () => import('./Files.svelte'),
};
