import type {Dashboard} from '../dashboard.ts';

export const audio: Dashboard = {
  id: 'audio',
  title: 'dashboards.audio',
  help: 'dashboards.audio.help',
  panel: 'runs',
  code: {
    PyTorch: 'w.add_audio("speech", samples, step, sample_rate=16000)  # −1…1',
    TensorFlow:
      'with w.as_default():\n    tf.summary.audio("speech", clips, sample_rate=16000, step=step)  # batch, frames, channels',
  },
  applies: have => have.kinds.has('audio'),
  load: () => import('./Audio.svelte'),
};
