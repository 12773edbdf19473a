// A diagnosis by folder: what lies in each and what became of it.
import type {Diagnosis} from '../data/types.ts';
import {formatBytes} from '../text/format.ts';
import {t} from '../text/messages.ts';

export interface FolderRow {
  readonly path: string;
  readonly found: string;
  readonly files: number;
  readonly records: number | null;
  readonly result: string;
}

interface Folder {
  readonly names: string[];
  records: number;
  points: number;
  read: number; // files
  lost: number; // bytes that cannot be read
  readonly skipped: Map<string, number>; // reason -> files
}

export function folderRows(diagnosis: Diagnosis): FolderRow[] {
  const folders = new Map<string, Folder>();
  const at = (path: string): Folder => {
    const slash = path.lastIndexOf('/');
    const folder = slash < 0 ? '.' : path.slice(0, slash);
    let one = folders.get(folder);
    if (one === undefined)
      folders.set(folder, (one = {names: [], records: 0, points: 0, read: 0, lost: 0, skipped: new Map()}));
    one.names.push(path.slice(slash + 1));
    return one;
  };
  for (const file of diagnosis.files) {
    const one = at(file.path);
    one.records += file.records;
    one.points += file.records;
    one.read++;
    for (const damage of file.damage) if (damage.severity === 'loss') one.lost += damage.length;
  }
  for (const skip of diagnosis.skipped) {
    const one = at(skip.path);
    one.skipped.set(skip.reason, (one.skipped.get(skip.reason) ?? 0) + 1);
  }
  const others = (diagnosis.also ?? []).map(one => ({
    path: one.path,
    files: one.files,
    found: t(`shell.none.also.${one.kind}`),
    records: null,
    result: one.bytes === 0 ? '' : formatBytes(one.bytes),
  }));
  const events = [...folders].map(([path, one]) => ({
    path,
    files: one.names.length,
    found: one.names.slice(0, 3).join(', ') + (one.names.length > 3 ? ' …' : ''),
    records: one.read === 0 ? null : one.records,
    result:
      one.read === 0
        ? [...one.skipped.keys()].join('; ')
        : one.lost > 0
          ? t('shell.none.damaged', {bytes: formatBytes(one.lost)})
          : one.records <= 1
            ? t('shell.none.header_only')
            : t('shell.none.points', {n: one.points}),
  }));
  return [...others, ...events];
}
