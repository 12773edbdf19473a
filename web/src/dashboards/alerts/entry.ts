import {loadAlerts} from '../../data/run-files.ts';
import type {Dashboard} from '../dashboard.ts';

export const alerts: Dashboard = {
  id: 'alerts',
  title: 'dashboards.alerts',
  help: 'dashboards.alerts.help',
  panel: 'none',
  code: {'alerts.yaml': 'loss is broken:\n  when: nan\n  tag: loss'},
  start: () => import('./FirstRule.svelte'),
  applies: () => false,
  probe: async () => {
    const found = await loadAlerts();
    return found.rules.length > 0 || found.alerts.length > 0 || found.problem !== undefined;
  },
  load: () => import('./Alerts.svelte'),
};
