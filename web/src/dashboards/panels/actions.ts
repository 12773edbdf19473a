// What can be done to the panels of a page.
import type {Panel} from '../../data/pages.ts';
import {changePanels, freshId} from '../../state/pages.svelte.ts';
import {toast} from '../../state/toast.svelte.ts';
import {t} from '../../text/messages.ts';
import {moved, replaced, resized, shifted} from './panel.ts';

export interface PanelActions {
  edit(panel: Panel): void;
  change(panel: Panel, change: Partial<Panel>): void;
  copy(panel: Panel): void;
  remove(panel: Panel): void;
  shift(panel: Panel, by: -1 | 1): void;
  resize(panel: Panel, w: number, h: number): void;
  move(id: string, before: string | null): void;
}

export function actionsOf(page: string, edit: (panel: Panel) => void): PanelActions {
  const change = (make: (panels: readonly Panel[]) => readonly Panel[]): void => changePanels(page, make);
  return {
    edit,
    change: (panel, to) => change(panels => replaced(panels, panel.id, to)),
    copy: panel => change(panels => panels.toSpliced(panels.indexOf(panel) + 1, 0, {...panel, id: freshId(panels)})),
    remove: panel => {
      let before: readonly Panel[] = [];
      change(panels => {
        before = panels;
        return panels.filter(one => one.id !== panel.id);
      });
      toast(t('panels.panel_removed'), {label: t('panels.undo'), run: () => change(() => before)});
    },
    shift: (panel, by) => change(panels => shifted(panels, panel.id, by)),
    resize: (panel, w, h) => change(panels => replaced(panels, panel.id, resized(panel, w, h))),
    move: (id, before) => change(panels => moved(panels, id, before)),
  };
}
