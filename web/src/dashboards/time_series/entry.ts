// Part of the page's first file: almost everyone opens it first.
import type {Dashboard} from '../dashboard.ts';
import TimeSeries from './TimeSeries.svelte';

export const timeSeries: Dashboard = {
  id: 'timeseries',
  aliases: ['scalars'],
  title: 'dashboards.timeseries',
  help: 'dashboards.timeseries.help',
  key: 't',
  panel: 'runs',
  code: {
    PyTorch:
      'from torch.utils.tensorboard import SummaryWriter\nw = SummaryWriter("logs/run1")\nw.add_scalar("loss", 0.693, 0)\nw.flush()',
    Keras: 'model.fit(x, y, callbacks=[keras.callbacks.TensorBoard("logs/run1")])',
    TensorFlow:
      'w = tf.summary.create_file_writer("logs/run1")\nwith w.as_default():\n    tf.summary.scalar("loss", 0.693, step=0)\nw.flush()',
    JAX: 'from sonde import SummaryWriter\nw = SummaryWriter("logs/run1")\nw.add_scalar("loss", float(loss), step)\nw.flush()',
  },
  applies: have => have.kinds.has('scalar'),
  view: TimeSeries,
};
