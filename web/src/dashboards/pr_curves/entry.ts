import type {Dashboard} from '../dashboard.ts';

export const prCurves: Dashboard = {
  id: 'pr_curves',
  title: 'dashboards.pr_curves',
  help: 'dashboards.pr_curves.help',
  panel: 'runs',
  code: {
    PyTorch: 'w.add_pr_curve("classes/cat", labels, probabilities, step)',
    TensorFlow: 'from tensorboard.plugins.pr_curve import summary\nsummary.pb("classes/cat", labels, predictions)',
  },
  applies: have => have.kinds.has('pr_curve'),
  load: () => import('./PrCurves.svelte'),
};
