import {setList} from '../../data/whatif.ts';
import type {Dashboard} from '../dashboard.ts';

export const whatIf: Dashboard = {
  id: 'whatif',
  title: 'dashboards.whatif',
  help: 'dashboards.whatif.help',
  key: 'w',
  panel: 'none',
  code: {
    Sonde: 'sonde.whatif(examples, predict=model.predict_proba, label="approved")',
    Training: 'sonde.whatif.log(writer, step, examples, predictions, label="approved")',
    Terminal: 'sonde whatif --data test.csv --label approved --predictions score',
  },
  applies: () => false,
  probe: async () => (await setList([])).sets.length > 0,
  load: () => import('./WhatIf.svelte'),
};
