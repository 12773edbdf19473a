// Pure rules of panels: their titles, where they go, what a change makes of them.
import {lineName} from '../../data/chart-series.ts';
import {GRID_COLUMNS, type Panel} from '../../data/pages.ts';
import {columnLabel} from '../../state/columns.ts';

export function titleOf(panel: Panel): string {
  if (panel.title) return panel.title;
  const names = (panel.values ?? []).map(column => columnLabel(column).full);
  if (panel.kind === 'scatter' && names.length === 2) return `${names[1]!} over ${names[0]!}`;
  return [...(panel.y ?? []).map(lineName), ...names].join(', ');
}

/** The panels with one taken out and put before another (null: at the end). */
export function moved(panels: readonly Panel[], id: string, before: string | null): readonly Panel[] {
  const panel = panels.find(one => one.id === id);
  if (panel === undefined || id === before) return panels;
  const rest = panels.filter(one => one.id !== id);
  const at = before === null ? rest.length : rest.findIndex(one => one.id === before);
  return at < 0 ? panels : rest.toSpliced(at, 0, panel);
}

/** One place earlier or later. */
export function shifted(panels: readonly Panel[], id: string, by: -1 | 1): readonly Panel[] {
  const at = panels.findIndex(one => one.id === id);
  const to = at + by;
  return at < 0 || to < 0 || to >= panels.length ? panels : panels.toSpliced(at, 1).toSpliced(to, 0, panels[at]!);
}

export function replaced(panels: readonly Panel[], id: string, change: Partial<Panel>): readonly Panel[] {
  return panels.map(one => (one.id === id ? {...one, ...change} : one));
}

/** Sizes within the grid. */
export function resized(panel: Panel, w: number, h: number): Pick<Panel, 'w' | 'h'> {
  const whole = (value: number, least: number, most: number): number =>
    Math.max(least, Math.min(most, Math.round(value)));
  return {w: whole(w, 2, GRID_COLUMNS), h: whole(h, 4, 40)};
}
