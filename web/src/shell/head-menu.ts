// The menu of a column of the run table.
import type {MenuItem} from '../parts/menu.ts';
import {runsView, tableColumns} from '../state/runs.svelte.ts';
import {t} from '../text/messages.ts';

export function headMenu(column: string, filter: () => void): MenuItem[] {
  const all = tableColumns();
  const at = all.indexOf(column);
  const move = (by: number): void => {
    const next = [...all];
    [next[at], next[at + by]] = [next[at + by]!, next[at]!];
    runsView.columns = next;
  };
  const sort: MenuItem[] = [
    {label: t('shell.sort_up'), run: () => (runsView.sort = [column, 'asc'])},
    {label: t('shell.sort_down'), run: () => (runsView.sort = [column, 'desc'])},
  ];
  if (column === 'name') return sort;
  return [
    ...sort,
    {label: t('shell.filter_column'), icon: 'filter', run: filter},
    {separator: true},
    {label: t('shell.move_left'), disabled: at === 0, run: () => move(-1)},
    {label: t('shell.move_right'), disabled: at === all.length - 1, run: () => move(1)},
    {
      label: t('shell.remove_column'),
      icon: 'x',
      run: () => (runsView.columns = all.filter(one => one !== column)),
    },
  ];
}
