// Which dashboards have something to show, and the commands of the shell.
import type {Dashboard} from '../dashboards/dashboard.ts';
import {DASHBOARDS} from '../dashboards/registry.ts';
import {copyText} from '../parts/clipboard.ts';
import {addCommands, type Command} from '../state/commands.svelte.ts';
import {preferences} from '../state/preferences.svelte.ts';
import {live, reload, togglePause} from '../state/live.svelte.ts';
import {showAll, showOnly} from '../state/runs.svelte.ts';
import {tags} from '../state/tags.svelte.ts';
import {toast} from '../state/toast.svelte.ts';
import {undoStack, linkHere, tab} from '../state/view.svelte.ts';
import {t} from '../text/messages.ts';

export interface Active {
  readonly on: readonly Dashboard[];
  readonly off: readonly Dashboard[];
  readonly first: Dashboard | undefined; // undefined: none that is known of
  has(dashboard: Dashboard): boolean;
  readonly probed: boolean; // whether it is known which dashboards without tags have data
  probe(): Promise<void>;
}

export function createActive(): Active {
  let probed = $state.raw<ReadonlySet<string>>(new Set());
  let asked = $state(false);
  const have = $derived({kinds: tags.kinds, plugins: tags.plugins});
  const has = (one: Dashboard): boolean => one.applies(have) || probed.has(one.id);
  const on = $derived(DASHBOARDS.filter(has));
  const off = $derived(DASHBOARDS.filter(one => !has(one)));
  return {
    get on() {
      return on;
    },
    get off() {
      return off;
    },
    get first() {
      return on.find(one => one.neverFirst !== true);
    },
    get probed() {
      return asked;
    },
    has,
    probe: async () => {
      const without = DASHBOARDS.filter(one => one.probe !== undefined);
      const answers = await Promise.all(without.map(one => one.probe!().catch(() => false)));
      probed = new Set(without.filter((_, i) => answers[i]).map(one => one.id));
      asked = true;
    },
  };
}

export function shellCommands(open: {
  palette: (text: string) => void;
  help: () => void;
  panel: () => void;
}): () => void {
  const themes = ['system', 'light', 'dark'] as const;
  const list: Command[] = [
    {id: 'palette', text: t('shell.cmd.palette'), icon: 'search', keys: 'Ctrl+K', run: () => open.palette('')},
    {id: 'help', text: t('shell.cmd.help'), icon: 'help', keys: '?', run: open.help},
    {id: 'panel', text: t('shell.cmd.panel'), icon: 'sideL', keys: '[', run: open.panel},
    {
      id: 'pause',
      text: t('shell.cmd.pause'),
      icon: 'pause',
      keys: 'p',
      run: () => {
        togglePause();
        toast(t(live.state === 'paused' ? 'shell.paused_now' : 'shell.live_now'));
      },
    },
    {id: 'reload', text: t('shell.cmd.reload'), icon: 'reset', run: () => void reload()},
    {
      id: 'link',
      text: t('shell.cmd.link'),
      icon: 'link',
      run: () => void copyText(linkHere()).then(() => toast(t('shell.link_copied'))),
    },
    {
      id: 'undo',
      text: t('shell.cmd.undo'),
      icon: 'reset',
      keys: 'Ctrl+Z',
      run: () => void (undoStack.undo() || toast(t('shell.nothing_undo'))),
    },
    {
      id: 'redo',
      text: t('shell.cmd.redo'),
      icon: 'reset',
      keys: 'Ctrl+Shift+Z',
      run: () => void (undoStack.redo() || toast(t('shell.nothing_redo'))),
    },
    {id: 'all', text: t('shell.cmd.all'), icon: 'eye', run: showAll},
    {id: 'none', text: t('shell.cmd.none'), icon: 'eyeOff', run: () => showOnly([])},
    ...themes.map((value): Command => ({
      id: `theme.${value}`,
      text: t(`shell.theme.${value}`),
      icon: value === 'dark' ? 'moon' : value === 'light' ? 'sun' : 'auto',
      group: 'setting',
      run: () => void (preferences.theme = value),
    })),
    {
      id: 'density',
      text: t('shell.cmd.density'),
      icon: 'list',
      group: 'setting',
      run: () => void (preferences.density = preferences.density === 'compact' ? 'comfortable' : 'compact'),
    },
    {
      id: 'dashes',
      text: t('shell.cmd.dashes'),
      icon: 'log',
      group: 'setting',
      run: () => void (preferences.dashes = !preferences.dashes),
    },
    {
      id: 'keys',
      text: t('shell.cmd.keys'),
      icon: 'gear',
      group: 'setting',
      run: () => {
        preferences.singleKeys = !preferences.singleKeys;
        toast(t(preferences.singleKeys ? 'shell.keys_on' : 'shell.keys_off'));
      },
    },
    ...DASHBOARDS.map((one): Command => ({
      id: `page.${one.id}`,
      text: t(one.title),
      icon: 'arrowR',
      group: 'page',
      ...(one.key === undefined ? {} : {keys: `g ${one.key}`}),
      run: () => tab.go(one.id),
    })),
  ];
  return addCommands(list);
}
