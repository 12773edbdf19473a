// Reading a Report's tables by column id, with the baseline's value beside each number.
import {numberOf} from '../../data/client.ts';
import {other, plain, type Cell, type Report, type ReportColumn, type ReportTable} from '../../data/profile.ts';

export interface ReadRow {
  readonly index: number;
  text(id: string): string;
  /** NaN when the cell is empty or the column is not there. */
  number(id: string): number;
  flag(id: string): boolean;
  /** The baseline's number, NaN without one. */
  base(id: string): number;
  cell(id: string): Cell;
}

export const tableOf = (report: Report, id: string): ReportTable | undefined =>
  report.tables.find(table => table.id === id);

export function readRows(table: ReportTable | undefined): readonly ReadRow[] {
  if (table === undefined) return [];
  const at = new Map(table.columns.map((column, i) => [column.id, i]));
  return table.rows.map((row, index) => {
    const cell = (id: string): Cell => plain(row[at.get(id) ?? -1] ?? null);
    return {
      index,
      cell,
      text: id => String(cell(id) ?? ''),
      number: id => numberOf(cell(id)),
      flag: id => cell(id) === true,
      base: id => numberOf(other(row[at.get(id) ?? -1] ?? null)),
    };
  });
}

export const figureOf = (report: Report, id: string): Report['figures'][number] | undefined =>
  report.figures.find(figure => figure.id === id);
export const figureNumber = (report: Report, id: string): number => numberOf(figureOf(report, id)?.value ?? null);
export const figureBase = (report: Report, id: string): number => numberOf(figureOf(report, id)?.baseline ?? null);

export function mean(values: readonly number[]): number {
  return values.length === 0 ? NaN : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Of the sample, as the back end's. */
export function deviation(values: readonly number[]): number {
  if (values.length < 2) return 0;
  const centre = mean(values);
  return Math.sqrt(values.reduce((sum, value) => sum + (value - centre) ** 2, 0) / (values.length - 1));
}

/** The parts of a step in a step table: its columns of time without the total. */
export function stepParts(table: ReportTable): readonly ReportColumn[] {
  return table.columns.filter(
    column =>
      column.type === 'number' &&
      (column.unit === 'ms' || column.unit === 'us') &&
      !/^(stepTime|duration)/.test(column.id),
  );
}

const KINDS: readonly (readonly [RegExp, string])[] = [
  [/input|infeed|data/i, 'input'],
  [/comm|collective|all.?reduce/i, 'comm'],
  [/launch|runtime/i, 'launch'],
  [/compil/i, 'compile'],
  [/output|outfeed/i, 'output'],
  [/copy|memcpy|memset|device.to.device|transfer/i, 'copy'],
  [/busy/i, 'busy'],
  [/idle|other|unknown|free/i, 'idle'],
  [/compute|kernel|device/i, 'compute'],
  [/host|cpu/i, 'host'],
];

/** Compute is quiet, waste is loud: known parts keep their colour on every page. "Host compute" is host work. */
export function partToken(label: string, i: number): string {
  if (/host.compute|cpu/i.test(label)) return '--cat-host';
  const kind = KINDS.find(([word]) => word.test(label))?.[1];
  if (kind === 'busy') return '--run-4';
  return kind === undefined ? `--run-${(i % 24) + 1}` : `--cat-${kind}`;
}

export const tokenColour = (token: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(token).trim();
