// The filter of a table, as one types it: words are looked for in any cell, /expressions/ too, and `column>5`,
// `column<5`, `column=text` look at one column. All terms have to hold.
import {plain, type Cell, type MaybePair, type ReportColumn} from '../../data/profile.ts';

type Test = (row: readonly MaybePair[]) => boolean;

function columnAt(columns: readonly ReportColumn[], name: string): number {
  const words = name.toLowerCase();
  const exact = columns.findIndex(column => column.id.toLowerCase() === words || column.label.toLowerCase() === words);
  return exact >= 0
    ? exact
    : columns.findIndex(
        column => column.id.toLowerCase().startsWith(words) || column.label.toLowerCase().startsWith(words),
      );
}

function termTest(term: string, columns: readonly ReportColumn[]): Test {
  const [, name, sign, value] = /^([\w.% ]+)([<>=])(.+)$/.exec(term) ?? [];
  const at = name === undefined ? -1 : columnAt(columns, name);
  if (at >= 0 && value !== undefined) {
    const bound = Number(value);
    if (sign === '=') return row => String(plain(row[at] ?? null) ?? '').toLowerCase() === value.toLowerCase();
    if (!Number.isNaN(bound))
      return row => (sign === '>' ? Number(plain(row[at] ?? null)) > bound : Number(plain(row[at] ?? null)) < bound);
  }
  const expression = /^\/(.+)\/$/.exec(term)?.[1];
  if (expression !== undefined) {
    try {
      const compiled = new RegExp(expression, 'i');
      return row => row.some(cell => compiled.test(String(plain(cell) ?? '')));
    } catch {
      return () => true; // half typed
    }
  }
  const words = term.toLowerCase();
  return row =>
    row.some(cell =>
      String(plain(cell) ?? '')
        .toLowerCase()
        .includes(words),
    );
}

export function rowFilter(text: string, columns: readonly ReportColumn[]): Test {
  const whole = text.trim();
  if (whole === '') return () => true;
  // Names hold spaces rarely and signs often: the whole text as one word counts too.
  const terms = whole.split(/\s+/).map(term => termTest(term, columns));
  const one = termTest(whole, columns);
  return row => one(row) || terms.every(test => test(row));
}

export function csvOf(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const quoted = (cell: Cell): string => {
    const text = cell === null ? '' : String(cell);
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [head.map(quoted).join(','), ...rows.map(row => row.map(quoted).join(','))].join('\r\n') + '\r\n';
}
