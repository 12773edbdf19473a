// The menus that say what groups runs and what colours them.
import type {MenuItem} from '../parts/menu.ts';
import {hparams} from '../state/hparams.svelte.ts';
import {runs, runsView} from '../state/runs.svelte.ts';
import {t} from '../text/messages.ts';

export type Spec = 'group' | 'colour';
const MOST_HPARAMS = 60;

export function specMenu(which: Spec, askRegex: () => void): MenuItem[] {
  const current = runsView[which];
  const set = (value: string): void => void (runsView[which] = value);
  const plain = which === 'group' ? ['none', 'dir'] : ['', 'run', 'group'];
  return [
    ...plain.map(value => ({
      label: t(`shell.${which}.${value === '' ? 'auto' : value}`),
      checked: current === value,
      run: () => set(value),
    })),
    {label: t('shell.spec_regex'), checked: current.startsWith('regex:'), run: askRegex},
    ...(hparams.all.length > 0 ? [{caption: t('shell.spec_hparam')}] : []),
    ...hparams.all.slice(0, MOST_HPARAMS).map(({name}) => {
      const chosen = current.startsWith('hparam:') ? current.slice(7).split(',') : [];
      const on = chosen.includes(name);
      return {
        label: name,
        checked: on,
        run: () => {
          const next = which === 'colour' ? [name] : on ? chosen.filter(one => one !== name) : [...chosen, name];
          set(next.length === 0 ? 'none' : `hparam:${next.join(',')}`);
        },
      };
    }),
  ];
}

export function specText(spec: string, which: Spec): string {
  if (spec.startsWith('hparam:')) return spec.slice(7).replaceAll(',', ', ');
  if (spec.startsWith('regex:')) return `/${spec.slice(6)}/`;
  return t(`shell.${which}.${spec === '' ? runs.colourSpec : spec}`);
}
