import type {Dashboard} from '../dashboard.ts';

export const text: Dashboard = {
  id: 'text',
  title: 'dashboards.text',
  help: 'dashboards.text.help',
  panel: 'runs',
  code: {
    PyTorch: 'w.add_text("eval/output", "**step 10**: the cat sat", step)',
    TensorFlow: 'with w.as_default():\n    tf.summary.text("eval/output", "**step 10**: the cat sat", step=step)',
  },
  applies: have => have.kinds.has('text'),
  load: () => import('./Text.svelte'),
};
