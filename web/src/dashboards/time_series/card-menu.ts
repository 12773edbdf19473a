// The "more" menu of a card.
import type {LineSettings} from '../../data/chart-series.ts';
import type {ChartModel} from '../../draw/chart-model.ts';
import type {MenuItem} from '../../parts/menu.ts';
import {t} from '../../text/messages.ts';
import type {CardSpec} from './sections.ts';
import {own, setOwn, view} from './settings.svelte.ts';

export interface MenuContext {
  readonly card: CardSpec;
  readonly model: ChartModel | null;
  readonly settings: LineSettings;
  readonly pinned: boolean;
  readonly full: boolean;
  pin(): void;
  onfull(key: string | null): void;
  onexport(model: ChartModel, card: CardSpec): void;
  onadd(card: CardSpec): void;
}

export function cardMenu(context: MenuContext): MenuItem[] {
  const {card, model, settings} = context;
  const key = card.key;
  const set = (change: Partial<LineSettings>): void => setOwn(key, {set: {...own(key).set, ...change}});
  const combined = card.tags.length > 1;
  return [
    {caption: t('ts.menu.scale')},
    ...(['linear', 'log', 'symlog'] as const).map(scale => ({
      label: t(`ts.scale.${scale}`),
      checked: settings.yscale === scale,
      ...(scale === 'log' ? {keys: 'l'} : {}),
      run: () => set({yscale: scale}),
    })),
    {separator: true},
    {label: t('ts.menu.add_tag'), icon: 'plus', run: () => context.onadd(card)},
    ...(combined
      ? [
          {
            label: t('ts.menu.remove_chart'),
            icon: 'x' as const,
            run: () => void (view.combos = view.combos.filter(tags => tags.join('\n') !== key)),
          },
        ]
      : []),
    {
      label: t('ts.menu.table'),
      icon: 'table',
      keys: 't',
      checked: own(key).table === true,
      run: () => setOwn(key, {table: own(key).table !== true}),
    },
    {separator: true},
    {
      label: t('ts.menu.wide'),
      checked: own(key).span === 'wide',
      run: () => setOwn(key, own(key).span === 'wide' ? {span: undefined as never} : {span: 'wide'}),
    },
    {
      label: t('ts.menu.row'),
      checked: own(key).span === 'row',
      run: () => setOwn(key, own(key).span === 'row' ? {span: undefined as never} : {span: 'row'}),
    },
    {
      label: t('ts.menu.own_reset'),
      icon: 'reset',
      disabled: own(key).set === undefined,
      run: () => setOwn(key, {set: undefined as never}),
    },
    {separator: true},
    {
      label: t('ts.menu.export'),
      icon: 'down',
      keys: 'e',
      disabled: model === null,
      run: () => model !== null && context.onexport(model, card),
    },
  ];
}
