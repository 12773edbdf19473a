import {listConsoles} from '../../data/run-files.ts';
import type {Dashboard} from '../dashboard.ts';

export const consoles: Dashboard = {
  id: 'console',
  title: 'dashboards.console',
  help: 'dashboards.console.help',
  panel: 'none',
  code: {Sonde: 'run = sonde.init(project="mnist")\nprint("hello")  # kept with time and rank'},
  applies: () => false,
  probe: async () => (await listConsoles()).length > 0,
  load: () => import('./Console.svelte'),
};
