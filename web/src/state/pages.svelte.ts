// The pages of panels: kept in the sidecar, so that everyone who opens the log directory has them.
import {DEFAULT_LINES, type LineSettings} from '../data/chart-series.ts';
import {cleanPages, type Panel, type PanelPage} from '../data/pages.ts';
import type {Run} from '../data/types.ts';
import type {Domain} from '../draw/scale.ts';
import type {Lines} from './line-question.ts';
import {runs} from './runs.svelte.ts';
import {patchSidecar, sidecar} from './sidecar.svelte.ts';
import {toast} from './toast.svelte.ts';
import {slice} from './view.svelte.ts';
import {t} from '../text/messages.ts';

export interface PanelsView {
  page: string; // id; '' = the first
  zoom: [number, number] | null; // x, shared by the panels of a page
  zoomY: Record<string, [number, number]>; // by panel
}

export const panelsView: PanelsView = slice<PanelsView>('panels', {page: '', zoom: null, zoomY: {}});

const all = $derived(cleanPages(sidecar.doc['pages']));
const currentId = $derived(all.has(panelsView.page) ? panelsView.page : (all.keys().next().value ?? ''));

export const pages = {
  get all(): ReadonlyMap<string, PanelPage> {
    return all;
  },
  get id(): string {
    return currentId;
  },
  get current(): PanelPage | null {
    return all.get(currentId) ?? null;
  },
};

export function openPage(id: string): void {
  panelsView.page = id;
  panelsView.zoom = null;
  panelsView.zoomY = {};
}

/** Saves a new page under an id made of its title; opens it. */
export function addPage(page: Omit<PanelPage, 'order'>): string {
  const slug =
    page.title
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-|-$/g, '')
      .slice(0, 40) || 'page';
  let id = slug;
  for (let n = 2; all.has(id); n++) id = `${slug}-${n}`;
  const order = Math.max(0, ...[...all.values()].map(one => one.order + 1));
  patchSidecar({pages: {[id]: {...page, order}}});
  openPage(id);
  return id;
}

export function changePage(id: string, change: Partial<PanelPage>): void {
  patchSidecar({pages: {[id]: change}});
}

export function removePage(id: string): void {
  const page = all.get(id);
  if (page === undefined) return;
  patchSidecar({pages: {[id]: null}});
  toast(t('panels.removed', {title: page.title}), {
    label: t('panels.undo'),
    run: () => patchSidecar({pages: {[id]: page}}),
  });
}

export function changePanels(id: string, change: (panels: readonly Panel[]) => readonly Panel[]): void {
  const page = all.get(id);
  if (page !== undefined) changePage(id, {panels: change(page.panels)});
}

/** An id that no panel of the page has. */
export function freshId(panels: readonly Panel[]): string {
  let n = panels.length + 1;
  while (panels.some(one => one.id === `p${n}`)) n++;
  return `p${n}`;
}

/** Images, histograms, texts and tables are shown of so many runs at most. */
export const MOST_MEDIA_RUNS = 24;

export interface PageRuns {
  readonly runs: readonly Run[];
  has(run: number): boolean;
}

/** The runs a page draws: its own, or those selected in the table. */
export function runsOf(page: PanelPage): PageRuns {
  if (page.runs === null) return {runs: runs.shown, has: runs.isShown};
  const own = page.runs.map(name => runs.byName(name)).filter(run => run !== undefined);
  const ids = new Set(own.map(run => run.id));
  return {runs: own, has: id => ids.has(id)};
}

/** The columns of the run table that the panels of a page show. */
export function valueColumns(page: PanelPage): string[] {
  return [...new Set(page.panels.flatMap(panel => panel.values ?? []))];
}

export function settingsOf(page: PanelPage, panel: Panel): LineSettings {
  return {...DEFAULT_LINES, ...page.settings, ...panel.set};
}

export function linesOf(page: PanelPage, panel: Panel, tags: readonly string[] = panel.y ?? []): Lines {
  const lines = {tags, settings: settingsOf(page, panel), restarts: 'newest' as const, ...runsOf(page)};
  return panel.y2 === undefined ? lines : {...lines, second: panel.y2};
}

export function zoomOf(panel: Panel): {x: Domain | null; y: Domain | null} {
  const y = panelsView.zoomY[panel.id];
  return {
    x: panelsView.zoom === null ? null : [panelsView.zoom[0], panelsView.zoom[1]],
    y: y === undefined ? null : [y[0], y[1]],
  };
}

export function setZoom(panel: Panel, x: Domain | null, y: Domain | null): void {
  panelsView.zoom = x === null ? null : [x[0], x[1]];
  const {[panel.id]: _, ...others} = $state.snapshot(panelsView.zoomY);
  panelsView.zoomY = y === null ? others : {...others, [panel.id]: [y[0], y[1]]};
}
