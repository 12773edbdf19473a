// The menus of the header: sharing a view, looks.
import {copyText} from '../parts/clipboard.ts';
import type {MenuItem} from '../parts/menu.ts';
import {preferences} from '../state/preferences.svelte.ts';
import {patchSidecar, sidecar} from '../state/sidecar.svelte.ts';
import {toast} from '../state/toast.svelte.ts';
import {encodeView} from '../state/url.ts';
import {currentSlices, linkHere, loadSaved} from '../state/view.svelte.ts';
import {t} from '../text/messages.ts';

/** Links, saved views. */
export function shareMenu(save: () => void): MenuItem[] {
  const views = Object.entries(sidecar.doc.views ?? {}).filter(([, one]) => one.name !== '');
  return [
    {
      label: t('shell.copy_link'),
      icon: 'link',
      run: () => void copyText(linkHere()).then(() => toast(t('shell.link_copied'))),
    },
    {label: t('shell.save_view'), icon: 'plus', run: save},
    ...(views.length > 0 ? [{caption: t('shell.saved_views')}] : []),
    ...views.map(([id, one]) => ({label: one.name, run: () => void loadSaved(id)})),
    ...(views.length > 0
      ? [
          {separator: true as const},
          ...views.map(([id, one]) => ({
            label: t('shell.delete_view', {name: one.name}),
            icon: 'x' as const,
            run: () => patchSidecar({views: {[id]: null}}),
          })),
        ]
      : []),
  ];
}

export function saveView(name: string): void {
  const slug =
    name
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-|-$/g, '')
      .slice(0, 40) || 'view';
  const taken = sidecar.doc.views ?? {};
  let id = slug;
  for (let n = 2; taken[id] !== undefined && taken[id]!.name !== name; n++) id = `${slug}-${n}`;
  patchSidecar({views: {[id]: {name, state: encodeView(currentSlices()) || '1.e30'}}});
  toast(t('shell.view_saved', {name}));
}

/** Theme, density, what helps to tell lines apart. */
export const settingsMenu = (): MenuItem[] => [
  {caption: t('shell.theme')},
  ...(['system', 'light', 'dark'] as const).map(value => ({
    label: t(`shell.theme.${value}`),
    checked: preferences.theme === value,
    run: () => void (preferences.theme = value),
  })),
  {caption: t('shell.density')},
  ...(['compact', 'comfortable'] as const).map(value => ({
    label: t(`shell.density.${value}`),
    checked: preferences.density === value,
    run: () => void (preferences.density = value),
  })),
  {separator: true},
  {
    label: t('shell.cmd.dashes'),
    checked: preferences.dashes,
    run: () => void (preferences.dashes = !preferences.dashes),
  },
  {
    label: t('shell.cmd.keys'),
    checked: preferences.singleKeys,
    run: () => void (preferences.singleKeys = !preferences.singleKeys),
  },
];
