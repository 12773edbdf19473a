// The PyTorch views with a picture of their own; the others are shown by the generic page.
import type {PageLoad} from '../pages.ts';

export const PYTORCH_PAGES: Readonly<Record<string, PageLoad>> = {
  'torch.operator': () => import('./Operators.svelte'),
  'torch.kernel': () => import('./Kernels.svelte'),
  'torch.memory': () => import('./Memory.svelte'),
  'torch.module': () => import('./Modules.svelte'),
  'torch.ranks': () => import('./Ranks.svelte'),
};
