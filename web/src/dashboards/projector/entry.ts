import {embeddingList} from '../../data/embeddings.ts';
import type {Dashboard} from '../dashboard.ts';

export const projector: Dashboard = {
  id: 'projector',
  title: 'dashboards.projector',
  help: 'dashboards.projector.help',
  key: 'e',
  panel: 'none',
  code: {
    Sonde: 'log.embedding("words", vectors, metadata=words)',
    PyTorch: 'w.add_embedding(vectors, metadata=words, label_img=pictures, tag="words")',
    Keras: 'keras.callbacks.TensorBoard("logs", embeddings_freq=1, embeddings_metadata="metadata.tsv")',
  },
  applies: () => false,
  probe: async () => (await embeddingList()).embeddings.length > 0,
  load: () => import('./Projector.svelte'),
};
