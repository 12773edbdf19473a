import type {Dashboard} from '../dashboard.ts';

const code = {
  PyTorch: 'for name, p in model.named_parameters():\n    w.add_histogram(name, p, step)',
  Keras: 'keras.callbacks.TensorBoard("logs/run1", histogram_freq=1)',
  TensorFlow: 'with w.as_default():\n    tf.summary.histogram("layer/weight", values, step=step)',
};

export const histograms: Dashboard = {
  id: 'histograms',
  title: 'dashboards.histograms',
  help: 'dashboards.histograms.help',
  key: 'h',
  panel: 'runs',
  code,
  applies: have => have.kinds.has('histogram'),
  load: () => import('./Histograms.svelte'),
};

/** The same tags as percentile bands: a tab of its own, as people know it. */
export const distributions: Dashboard = {
  id: 'distributions',
  title: 'dashboards.distributions',
  help: 'dashboards.histograms.help',
  panel: 'runs',
  code,
  applies: have => have.kinds.has('histogram'),
  load: () => import('./Distributions.svelte'),
};
