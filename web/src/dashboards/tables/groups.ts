// Rows that belong together (the completions of one prompt) side by side over the steps.
import type {SampleColumn, SampleRow} from '../../data/run-files.ts';
import {cellText} from '../../parts/sample-cells.ts';

export interface GroupStep {
  readonly step: number;
  readonly rows: readonly SampleRow[];
}

export interface RowGroup {
  readonly key: string;
  readonly steps: readonly GroupStep[]; // ascending
}

/** In the order of their first row; rows that cannot be read belong to no group. */
export function groupRows(rows: readonly SampleRow[], column: string): readonly RowGroup[] {
  const groups = new Map<string, Map<number, SampleRow[]>>();
  for (const row of rows) {
    if (row.cells === undefined) continue;
    const key = cellText(row.cells[column]);
    const steps = groups.get(key) ?? new Map<number, SampleRow[]>();
    groups.set(key, steps);
    const members = steps.get(row.step);
    if (members === undefined) steps.set(row.step, [row]);
    else members.push(row);
  }
  return [...groups].map(([key, steps]) => ({
    key,
    steps: [...steps].sort(([a], [b]) => a - b).map(([step, members]) => ({step, rows: members})),
  }));
}

/** The mean of the numbers of a column; NaN without any. */
export function meanOf(rows: readonly SampleRow[], column: string): number {
  let sum = 0;
  let count = 0;
  for (const row of rows) {
    const value = row.cells?.[column];
    if (typeof value !== 'number') continue;
    sum += value;
    count += 1;
  }
  return count === 0 ? NaN : sum / count;
}

/** The column that says how good a row is: "reward", else "score", else none. */
export function rewardColumn(columns: readonly SampleColumn[]): string {
  const numbers = columns.filter(one => one.kind === 'number').map(one => one.name);
  for (const word of ['reward', 'score'])
    for (const fits of [(name: string) => name === word, (name: string) => name.toLowerCase().includes(word)]) {
      const found = numbers.find(fits);
      if (found !== undefined) return found;
    }
  return '';
}

/** Columns that hold the same text in every row of a group say it once, above it. */
export function sharedColumns(group: RowGroup, columns: readonly SampleColumn[]): readonly SampleColumn[] {
  const rows = group.steps.flatMap(one => one.rows);
  return columns.filter(column => {
    const first = cellText(rows[0]?.cells?.[column.name]);
    return column.kind === 'text' && first !== '' && rows.every(row => cellText(row.cells?.[column.name]) === first);
  });
}
