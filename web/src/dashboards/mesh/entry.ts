import type {Dashboard} from '../dashboard.ts';

export const mesh: Dashboard = {
  id: 'mesh',
  title: 'dashboards.mesh',
  help: 'dashboards.mesh.help',
  panel: 'runs',
  code: {
    PyTorch: 'w.add_mesh("scan", vertices, colors=colours, faces=faces, global_step=step)  # batch, n, 3',
    TensorFlow:
      'from tensorboard.plugins.mesh import summary_v2\nsummary_v2.mesh("scan", vertices=vertices, faces=faces, colors=colours, step=step)',
  },
  applies: have => have.kinds.has('mesh'),
  load: () => import('./Mesh.svelte'),
};
