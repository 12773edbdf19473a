import type {Dashboard} from '../dashboard.ts';

export const histograms: Dashboard = {
  id: 'histograms',
  title: 'dashboards.histograms',
  help: 'dashboards.histograms.help',
  key: 'h',
  panel: 'runs',
  code: {
    PyTorch: 'for name, p in model.named_parameters():\n    w.add_histogram(name, p, step)',
    Keras: 'keras.callbacks.TensorBoard("logs/run1", histogram_freq=1)',
    TensorFlow: 'with w.as_default():\n    tf.summary.histogram("layer/weight", values, step=step)',
  },
  applies: (have) => have.kinds.has('histogram'),
  load: () => import('./Histograms.svelte'),
};
