// Tools whose picture says more than the generic Report page, and the component that draws each. A tool
// that is not listed gets the generic page. To add one: a component with PageProps and its line here;
// the PyTorch views keep their lines in pytorch/pages.ts.
import type {Component} from 'svelte';
import type {Report} from '../../data/profile.ts';
import {PYTORCH_PAGES} from './pytorch/pages.ts';

/** What a page is given: the Report is loaded, host and baseline are chosen in the bar above it. */
export interface PageProps {
  readonly session: string;
  readonly tool: string;
  readonly report: Report;
  readonly compared: boolean; // whether numbers of the report are pairs [value, baseline]
  readonly before: Report | null; // the baseline's own, for pages that draw a document
  readonly hosts: readonly string[];
}

export type PageLoad = () => Promise<{default: Component<PageProps>}>;

export const PAGES: Readonly<Record<string, PageLoad>> = {
  overview_page: () => import('./pages/Overview.svelte'),
  input_pipeline_analyzer: () => import('./pages/InputPipeline.svelte'),
  framework_op_stats: () => import('./pages/FrameworkOps.svelte'),
  kernel_stats: () => import('./pages/Kernels.svelte'),
  memory_profile: () => import('./pages/Memory.svelte'),
  pod_viewer: () => import('./pages/Pod.svelte'),
  tf_data_bottleneck_analysis: () => import('./pages/TfData.svelte'),
  op_profile: () => import('./pages/OpProfile.svelte'),
  hlo_stats: () => import('./pages/HloStats.svelte'),
  roofline_model: () => import('./pages/Roofline.svelte'),
  memory_viewer: () => import('./pages/MemoryViewer.svelte'),
  graph_viewer: () => import('./pages/HloGraph.svelte'),
  critical_path: () => import('./pages/CriticalPath.svelte'),
  memory_snapshot: () => import('./pages/MemorySnapshot.svelte'),
  ...PYTORCH_PAGES,
};
