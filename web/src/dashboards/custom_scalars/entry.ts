import type {Dashboard} from '../dashboard.ts';

export const customScalars: Dashboard = {
  id: 'custom_scalars',
  title: 'dashboards.custom_scalars',
  help: 'dashboards.custom_scalars.help',
  panel: 'runs',
  code: {
    PyTorch: 'w.add_custom_scalars({"losses": {"all": ["Multiline", ["loss/.*"]]}})',
  },
  // Charts can be made here from any scalars, also when no run brought a layout along.
  applies: have => have.kinds.has('layout') || have.kinds.has('scalar'),
  load: () => import('./CustomScalars.svelte'),
};
