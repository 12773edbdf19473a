// The trials in view as CSV, JSON or LaTeX: the shown columns, the shown order, all digits.
import {labelOf, type Column, type Trials} from './model.ts';

export type Format = 'csv' | 'json' | 'tex';

export function exportTrials(
  format: Format,
  trials: Trials,
  columns: readonly Column[],
  rows: ArrayLike<number>,
): string {
  const list = Array.from(rows);
  if (format === 'json')
    return JSON.stringify(
      list.map(row => jsonRow(trials, columns, row)),
      null,
      1,
    );
  const head = ['trial', ...columns.map(column => plain(column))];
  const body = list.map(row => [trials.names[row]!, ...columns.map(column => column.exact(row))]);
  if (format === 'csv') return [head, ...body].map(line => line.map(quote).join(',')).join('\r\n') + '\r\n';
  const align = ['l', ...columns.map(column => (column.names === null ? 'r' : 'l'))].join('');
  const text = list.map(row => [trials.names[row]!, ...columns.map(column => column.text(row))]);
  return [
    `\\begin{tabular}{${align}}`,
    '\\hline',
    `${head.map(escapeTex).join(' & ')} \\\\`,
    '\\hline',
    ...text.map(line => `${line.map(escapeTex).join(' & ')} \\\\`),
    '\\hline',
    '\\end{tabular}',
    '',
  ].join('\n');
}

/** "val/acc" for the last value, "val/acc:max" for others: names that do not depend on the page's language. */
function plain(column: Column): string {
  return labelOf(column.id, key => key);
}

function jsonRow(trials: Trials, columns: readonly Column[], row: number): Record<string, unknown> {
  const out: Record<string, unknown> = {trial: trials.names[row]};
  for (const column of columns) {
    const value = column.v[row]!;
    out[plain(column)] =
      column.has[row] === 0
        ? null
        : column.names !== null
          ? truth(column.names[value]!)
          : Number.isFinite(value)
            ? value
            : column.exact(row);
  }
  return out;
}

function truth(text: string): string | boolean {
  return text === 'true' ? true : text === 'false' ? false : text;
}

function quote(cell: string): string {
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

const TEX: Readonly<Record<string, string>> = {
  '\\': '\\textbackslash{}',
  '&': '\\&',
  '%': '\\%',
  $: '\\$',
  '#': '\\#',
  _: '\\_',
  '{': '\\{',
  '}': '\\}',
  '~': '\\textasciitilde{}',
  '^': '\\textasciicircum{}',
  '\u2212': '$-$',
  '∞': '$\\infty$',
  '\u202f': '\\,',
};

function escapeTex(cell: string): string {
  return cell.replace(/[\\&%$#_{}~^\u2212∞\u202f]/g, found => TEX[found]!);
}
