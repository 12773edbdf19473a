import {profileSessions} from '../../data/profile.ts';
import type {Dashboard} from '../dashboard.ts';

export const profile: Dashboard = {
  id: 'profile',
  title: 'dashboards.profile',
  help: 'dashboards.profile.help',
  key: 'r',
  panel: 'none',
  code: {
    TensorFlow: "tf.profiler.experimental.start('logs')\n…\ntf.profiler.experimental.stop()",
    JAX: "with jax.profiler.trace('logs'):\n    step()",
    PyTorch:
      "with torch.profiler.profile(\n        on_trace_ready=torch.profiler.tensorboard_trace_handler('logs')) as p:\n    step(); p.step()",
  },
  start: () => import('./capture/CaptureStart.svelte'),
  applies: () => false,
  probe: async () => (await profileSessions()).length > 0,
  load: () => import('./Profile.svelte'),
};
