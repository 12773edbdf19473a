import type {Dashboard} from '../dashboard.ts';

export const run: Dashboard = {
  id: 'run',
  title: 'dashboards.run',
  help: 'dashboards.run.help',
  neverFirst: true,
  panel: 'runs',
  applies: have => have.kinds.size > 0,
  load: () => import('./Run.svelte'),
};
