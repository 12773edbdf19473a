// What the viewer can do, once: as entries of its menu and of the page's command palette.
import type {MenuItem} from '../../../parts/menu.ts';
import type {IconName} from '../../../parts/icons.ts';
import {preferences} from '../../../state/preferences.svelte.ts';
import type {Command} from '../../../state/commands.svelte.ts';
import {t} from '../../../text/messages.ts';
import {view} from '../view.svelte.ts';
import {CLOCKS} from './clock.ts';
import {PALETTES, paletteName, type Look} from './look.svelte.ts';
import type {TimeWindow} from './window.svelte.ts';

export interface Acts {
  readonly time: TimeWindow;
  readonly look: Look;
  zeroAt(): number | null; // where the zero of the axis would be set; null: nothing is chosen
  has(clock: string): boolean;
  foldAll(folded: boolean): void;
  download(): void;
  picture(): void;
  finder(): void;
  filter(): void;
  about(): void;
  path(): void; // the critical path as a track
  hasPath(): boolean;
  help(): void;
  search(): void;
}

export function clockItems(acts: Acts): readonly MenuItem[] {
  const zero = acts.zeroAt();
  return [
    ...CLOCKS.filter(kind => acts.has(kind)).map(kind => ({
      label: t(`trace.clock.${kind}`),
      checked: view.clock === kind,
      run: () => void (view.clock = kind),
    })),
    {separator: true},
    {
      label: t('trace.clock.set'),
      icon: 'flag',
      disabled: zero === null,
      run: () => void ([view.zero, view.clock] = [zero, 'zero']),
    },
  ];
}

export function moreItems(acts: Acts): readonly MenuItem[] {
  return [
    {label: t('profile.zoom_in'), icon: 'plus', run: () => acts.time.zoom(0.5, 0.5)},
    {label: t('profile.zoom_out'), icon: 'minus', run: () => acts.time.zoom(2, 0.5)},
    {separator: true},
    {label: t('trace.finder'), icon: 'search', keys: 'Ctrl P', run: acts.finder},
    {label: t('trace.unfold_all'), icon: 'chevD', run: () => acts.foldAll(false)},
    {label: t('trace.fold_all'), icon: 'chevR', run: () => acts.foldAll(true)},
    {separator: true},
    {label: t('trace.path'), checked: acts.hasPath(), run: acts.path},
    {label: t('trace.grid'), checked: acts.look.grid, keys: 'G', run: () => void (acts.look.grid = !acts.look.grid)},
    ...PALETTES.map(name => ({
      label: t(`trace.palette.${name}`),
      checked: paletteName() === name,
      run: () => void (preferences['x_trace_palette'] = name),
    })),
    {separator: true},
    {label: t('profile.export'), icon: 'down', run: acts.download},
    {label: t('trace.picture'), icon: 'image', run: acts.picture},
    {label: t('trace.about'), icon: 'info', run: acts.about},
    {label: t('profile.keys'), icon: 'help', run: acts.help},
  ];
}

const WITH_KEYS: readonly string[] = ['Ctrl P'];

/** The same for the palette, and the choices of the bar. */
export function viewerCommands(acts: Acts): readonly Command[] {
  const acting = [...moreItems(acts), ...clockItems(acts)].flatMap(item =>
    'run' in item && item.disabled !== true ? [item] : [],
  );
  const command = (id: string, text: string, run: () => void, icon: IconName = 'arrowR'): Command => ({
    id: `trace.${id}`,
    text,
    icon,
    run,
  });
  return [
    ...acting.map((item, i): Command => ({
      ...command(
        `act${i}`,
        item.checked === undefined ? item.label : `${t('profile.trace')}: ${item.label}`,
        item.run,
        item.icon ?? 'eye',
      ),
      ...(item.keys !== undefined && WITH_KEYS.includes(item.keys) ? {keys: item.keys.replace(' ', '+')} : {}),
    })),
    command('filter', t('trace.filter'), acts.filter, 'filter'),
    command('search', t('profile.search'), acts.search, 'search'),
    command('fit', t('profile.fit'), () => acts.time.reset(), 'fit'),
    ...['name', 'category', 'track', 'process', 'duration'].map(by =>
      command(`colour.${by}`, `${t('trace.colour')}: ${t(`trace.colour.${by}`)}`, () => void (view.colour = by), 'eye'),
    ),
    ...['selection', 'all', 'none'].map(which =>
      command(
        `arrows.${which}`,
        `${t('trace.arrows')}: ${t(`trace.arrows.${which}`)}`,
        () => void (view.arrows = which),
        'eye',
      ),
    ),
  ];
}
