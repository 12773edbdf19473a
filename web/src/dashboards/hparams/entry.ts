import {hparams as known, loadHparams} from '../../state/hparams.svelte.ts';
import type {Dashboard} from '../dashboard.ts';

export const hparams: Dashboard = {
  id: 'hparams',
  title: 'dashboards.hparams',
  help: 'dashboards.hparams.help',
  key: 'p',
  panel: 'none',
  code: {
    PyTorch: 'w.add_hparams({"lr": 0.1, "batch": 32}, {"val/acc": 0.93})',
    TensorFlow: 'from tensorboard.plugins.hparams import api as hp\nhp.hparams({"lr": 0.1, "batch": 32})',
    'Any framework':
      'logs/lr=0.1_batch=32/      # values in the name of the run\nlogs/run1/config.yaml      # or a file beside the events',
  },
  applies: have => have.kinds.has('hparams'),
  probe: async () => {
    await loadHparams();
    return known.all.length > 0;
  },
  load: () => import('./Hparams.svelte'),
};
