import type {Dashboard} from '../dashboard.ts';
import {systemTags} from './tags.ts';

export const system: Dashboard = {
  id: 'system',
  title: 'dashboards.system',
  help: 'dashboards.system.help',
  panel: 'runs',
  code: {Sonde: 'run = sonde.init(project="mnist")  # system metrics once a second'},
  applies: () => false,
  probe: async () => systemTags().length > 0,
  load: () => import('./System.svelte'),
};
