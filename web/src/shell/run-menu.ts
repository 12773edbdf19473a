// The context menu of a run.
import type {Run} from '../data/types.ts';
import {copyText} from '../parts/clipboard.ts';
import type {MenuItem} from '../parts/menu.ts';
import type {Group} from '../state/groups.ts';
import {runs, runsView, setShown, showAll, showOnly} from '../state/runs.svelte.ts';
import {sidecar} from '../state/sidecar.svelte.ts';
import {navigate, tab} from '../state/view.svelte.ts';
import {t} from '../text/messages.ts';
import {archive, restore} from './bulk-menu.ts';

export interface GroupActions {
  readonly open: boolean;
  colour(): void;
  fold(): void;
  foldAll(): void;
}

export function groupMenu(group: Group, actions: GroupActions): MenuItem[] {
  const shown = group.members.every(run => runs.isShown(run.id));
  return [
    {caption: group.key},
    {label: t('shell.menu.group_only'), keys: 'o', icon: 'target', run: () => showOnly(group.members)},
    {
      label: t(shown ? 'shell.menu.group_hide' : 'shell.menu.group_show'),
      keys: 'Space',
      icon: shown ? 'eyeOff' : 'eye',
      run: () => setShown(group.members, !shown),
    },
    {separator: true},
    {label: t('shell.menu.colour'), icon: 'lasso', run: actions.colour},
    {label: t(actions.open ? 'shell.menu.collapse' : 'shell.menu.expand'), icon: 'list', run: actions.fold},
    {label: t('shell.menu.fold_all'), icon: 'list', run: actions.foldAll},
    {separator: true},
    {
      label: t('shell.menu.copy_names'),
      icon: 'copy',
      run: () => void copyText(group.members.map(run => run.name).join('\n')),
    },
  ];
}

export function runMenu(run: Run, open: {note: () => void; colour: () => void}): MenuItem[] {
  const hidden = sidecar.notes(run.name).hidden === true;
  return [
    {label: t('shell.menu.only'), keys: 'o', icon: 'target', run: () => showOnly([run])},
    {
      label: runs.isShown(run.id) ? t('shell.menu.deselect') : t('shell.menu.select'),
      keys: 'Space',
      icon: 'ok',
      run: () => setShown([run], !runs.isShown(run.id)),
    },
    {label: t('shell.menu.all'), icon: 'list', run: showAll},
    {separator: true},
    {
      label: t('shell.menu.open_run'),
      icon: 'arrowR',
      run: () => {
        navigate('run', {run: run.name});
        tab.go('run');
      },
    },
    {
      label: t('shell.menu.baseline'),
      checked: runsView.baseline === run.name,
      run: () => void (runsView.baseline = runsView.baseline === run.name ? '' : run.name),
    },
    {label: t('shell.menu.note'), keys: 'Enter', icon: 'pen', run: open.note},
    {label: t('shell.menu.colour'), keys: 'c', icon: 'lasso', run: open.colour},
    {
      label: hidden ? t('shell.menu.unhide') : t('shell.menu.hide'),
      icon: hidden ? 'eye' : 'eyeOff',
      run: () => (hidden ? restore([run]) : archive([run])),
    },
    {
      label: t('shell.menu.archived'),
      checked: runsView.archived,
      run: () => void (runsView.archived = !runsView.archived),
    },
    {separator: true},
    {label: t('shell.menu.copy'), icon: 'copy', run: () => void copyText(run.name)},
  ];
}
