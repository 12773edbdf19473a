import {numericsDumps} from '../../data/numerics.ts';
import type {Dashboard} from '../dashboard.ts';

export const numerics: Dashboard = {
  id: 'numerics',
  aliases: ['debugger-v2'],
  title: 'dashboards.numerics',
  help: 'dashboards.numerics.help',
  key: 'n',
  panel: 'none',
  code: {
    PyTorch: 'watch = sonde.debug.watch(model, optimizer, logdir="logs")\nloss = watch.step(train_step, x, y)',
    JAX: 'step = sonde.debug.checked(jax.jit(train_step), logdir="logs")',
    Keras: 'model.fit(x, y, callbacks=[sonde.keras.Numerics("logs")])',
    TensorFlow:
      'tf.debugging.experimental.enable_dump_debug_info(\n    "logs", tensor_debug_mode="FULL_HEALTH", circular_buffer_size=-1)',
  },
  applies: () => false,
  probe: async () => (await numericsDumps()).length > 0,
  load: () => import('./Numerics.svelte'),
};
