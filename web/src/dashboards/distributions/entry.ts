import type {Dashboard} from '../dashboard.ts';
import {histograms} from '../histograms/entry.ts';

export const distributions: Dashboard = {
  id: 'distributions',
  title: 'dashboards.distributions',
  help: 'dashboards.histograms.help',
  panel: 'runs',
  ...(histograms.code === undefined ? {} : {code: histograms.code}),
  applies: (have) => have.kinds.has('histogram'),
  load: () => import('./Distributions.svelte'),
};
