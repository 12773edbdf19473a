// Layouts of custom charts: those that runs brought along, merged by category title on the server, and
// those the user keeps in the sidecar.
import type * as api from './api.ts';
import {client} from './client.ts';

export interface MarginSeries {
  readonly value: string;
  readonly lower: string;
  readonly upper: string;
}

export type LayoutChart = api.LayoutChart;

export interface LayoutCategory {
  readonly title: string;
  readonly closed?: boolean;
  readonly charts: readonly LayoutChart[];
}

interface WireCategory extends LayoutCategory {
  readonly source: 'run' | 'sidecar';
  readonly run?: string;
}

/** Categories that runs brought along. */
export async function runLayouts(): Promise<LayoutCategory[]> {
  const answer = await client().get<{layouts: readonly WireCategory[]}>('layouts');
  return answer.layouts.filter(one => one.source !== 'sidecar');
}

/** What a sidecar or a link holds may be anything: only well-formed categories are taken. */
export function cleanLayouts(value: unknown): LayoutCategory[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((one: unknown): LayoutCategory[] => {
    if (typeof one !== 'object' || one === null) return [];
    const {title, closed, charts} = one as Record<string, unknown>;
    if (typeof title !== 'string' || !Array.isArray(charts)) return [];
    return [{title, closed: closed === true, charts: charts.flatMap(cleanChart)}];
  });
}

function cleanChart(value: unknown): LayoutChart[] {
  if (typeof value !== 'object' || value === null) return [];
  const {title, multiline, margin} = value as {
    title?: unknown;
    multiline?: {tags?: unknown};
    margin?: {series?: unknown};
  };
  if (typeof title !== 'string') return [];
  if (Array.isArray(multiline?.tags))
    return [{title, multiline: {tags: multiline.tags.filter((tag): tag is string => typeof tag === 'string')}}];
  if (!Array.isArray(margin?.series)) return [];
  const series = margin.series.filter((one): one is MarginSeries =>
    ['value', 'lower', 'upper'].every(key => typeof (one as Record<string, unknown> | null)?.[key] === 'string'),
  );
  return [{title, margin: {series}}];
}
