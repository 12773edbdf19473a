import type {Dashboard} from '../dashboard.ts';

export const images: Dashboard = {
  id: 'images',
  title: 'dashboards.images',
  help: 'dashboards.images.help',
  key: 'i',
  panel: 'runs',
  code: {
    PyTorch: 'w = SummaryWriter("logs/run1")\nw.add_image("sample", image, step)  # uint8 or 0…1, CHW',
    TensorFlow:
      'with w.as_default():\n    tf.summary.image("sample", images, step=step)  # batch, height, width, channels',
    JAX: 'from sonde import SummaryWriter\nw = SummaryWriter("logs/run1")\nw.add_image("sample", np.asarray(image), step, dataformats="HWC")',
  },
  applies: have => have.kinds.has('image'),
  load: () => import('./Images.svelte'),
};
