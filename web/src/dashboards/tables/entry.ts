import {listTables} from '../../data/run-files.ts';
import type {Dashboard} from '../dashboard.ts';

export const tables: Dashboard = {
  id: 'tables',
  title: 'dashboards.tables',
  help: 'dashboards.tables.help',
  panel: 'none',
  code: {
    Sonde:
      'run = sonde.init(project="rl")\nrun.log({"rollouts": sonde.Table(["prompt", "answer", "reward"],\n                                [["2+2?", "4", 1.0]])}, step=step)',
  },
  applies: () => false,
  probe: async () => (await listTables()).length > 0,
  load: () => import('./Tables.svelte'),
};
