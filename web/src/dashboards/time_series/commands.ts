// The commands of time series in the palette and on keys.
import {addCommands} from '../../state/commands.svelte.ts';
import {inspector} from '../../state/inspector.svelte.ts';
import {t} from '../../text/messages.ts';
import {fit, view} from './settings.svelte.ts';

export interface Actions {
  filter(): void;
  report(): void;
  fold(open: boolean): void;
}

export function timeSeriesCommands({filter, report, fold}: Actions): () => void {
  return addCommands([
    {id: 'ts.filter', text: t('ts.cmd.filter'), icon: 'search', keys: '/', run: filter},
    {
      id: 'ts.settings',
      text: t('ts.cmd.settings'),
      icon: 'side',
      keys: ']',
      run: () => (inspector.open = !inspector.open),
    },
    {
      id: 'ts.smooth_off',
      text: t('ts.cmd.smooth_off'),
      icon: 'reset',
      run: () => (view.smooth = {kind: 'none', p: 0}),
    },
    {
      id: 'ts.smooth_ema',
      text: t('ts.cmd.smooth_ema'),
      icon: 'gear',
      run: () => {
        view.smooth = {kind: 'ema', p: 0.9};
        inspector.open = true;
      },
    },
    {
      id: 'ts.log',
      text: t('ts.cmd.log'),
      icon: 'log',
      run: () => (view.yscale = view.yscale === 'log' ? 'linear' : 'log'),
    },
    {id: 'ts.fit', text: t('ts.cmd.fit'), icon: 'fit', run: () => fit(null)},
    {id: 'ts.report', text: t('ts.cmd.report'), icon: 'note', run: report},
    {id: 'ts.fold_all', text: t('ts.cmd.fold'), icon: 'list', run: () => fold(false)},
    {id: 'ts.open_all', text: t('ts.cmd.open'), icon: 'list', run: () => fold(true)},
  ]);
}
