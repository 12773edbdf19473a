import {graphList} from '../../data/graphs.ts';
import type {Dashboard} from '../dashboard.ts';

export const graphs: Dashboard = {
  id: 'graphs',
  title: 'dashboards.graphs',
  help: 'dashboards.graphs.help',
  key: 'g',
  panel: 'none',
  code: {
    Keras: "keras.callbacks.TensorBoard('logs', write_graph=True)",
    PyTorch: 'writer.add_graph(model, inputs)',
    TensorFlow: "tf.summary.trace_on(graph=True)\n…\ntf.summary.trace_export('step', step=0)",
  },
  applies: () => false,
  probe: async () => (await graphList()).length > 0,
  load: () => import('./Graphs.svelte'),
};
