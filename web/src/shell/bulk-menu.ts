// What can be done to many runs at once: archive, restore, tag, copy names. Each can be undone.
import type {Run} from '../data/types.ts';
import {copyText} from '../parts/clipboard.ts';
import type {MenuItem} from '../parts/menu.ts';
import {runs} from '../state/runs.svelte.ts';
import {patchSidecar, sidecar} from '../state/sidecar.svelte.ts';
import {toast} from '../state/toast.svelte.ts';
import {formatCount} from '../text/format.ts';
import {t} from '../text/messages.ts';

type Notes = Readonly<Record<string, unknown>>;

/** Changes notes of runs in one save, with a way back. */
function change(list: readonly Run[], key: 'hidden' | 'tags', to: (run: Run) => unknown, told: string): void {
  const before: Record<string, Notes> = {};
  const after: Record<string, Notes> = {};
  for (const run of list) {
    const own = sidecar.notes(run.name)[key];
    before[run.name] = {[key]: own === undefined ? null : [own].flat().length === 0 ? null : own};
    after[run.name] = {[key]: to(run)};
  }
  patchSidecar({runs: after});
  toast(told, {label: t('shell.undo'), run: () => patchSidecar({runs: before})});
}

export function archive(list: readonly Run[]): void {
  const told =
    list.length === 1
      ? t('shell.hidden_one', {run: runs.nameOf(list[0]!)})
      : t('shell.archived_n', {n: formatCount(list.length)});
  change(list, 'hidden', () => true, told);
}

export function restore(list: readonly Run[]): void {
  change(list, 'hidden', () => null, t('shell.restored_n', {n: formatCount(list.length)}));
}

export function tagRuns(list: readonly Run[], tag: string): void {
  const having = (run: Run): readonly string[] => sidecar.notes(run.name).tags ?? [];
  change(
    list.filter(run => !having(run).includes(tag)),
    'tags',
    run => [...having(run), tag],
    t('shell.tagged_n', {n: formatCount(list.length), tag}),
  );
}

export function bulkMenu(asktag: (list: readonly Run[]) => void): MenuItem[] {
  const isArchived = (run: Run): boolean => sidecar.notes(run.name).hidden === true;
  const listed = runs.listed.filter(run => !isArchived(run));
  const selected = listed.filter(run => runs.isShown(run.id));
  const others = listed.filter(run => !runs.isShown(run.id));
  const archived = runs.all.filter(isArchived);
  const n = formatCount(selected.length);
  return [
    {caption: t('shell.bulk.selected', {n})},
    {label: t('shell.bulk.tag'), icon: 'note', disabled: selected.length === 0, run: () => asktag(selected)},
    {
      label: t('shell.menu.copy_all'),
      icon: 'copy',
      disabled: selected.length === 0,
      run: () => void copyText(selected.map(run => run.name).join('\n')),
    },
    {label: t('shell.bulk.archive'), icon: 'eyeOff', disabled: selected.length === 0, run: () => archive(selected)},
    {separator: true},
    {
      label: t('shell.bulk.archive_others', {n: formatCount(others.length)}),
      disabled: others.length === 0,
      run: () => archive(others),
    },
    {
      label: t('shell.bulk.restore', {n: formatCount(archived.length)}),
      icon: 'eye',
      disabled: archived.length === 0,
      run: () => restore(archived),
    },
  ];
}
