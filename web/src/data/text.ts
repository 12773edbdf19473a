// Texts of one (run, tag): rendered by the server (Markdown, sanitised) or raw, in pages, with search.
import {client, numberOf, type AskOptions} from './client.ts';
import {stepList, type StepList} from './media.ts';

export interface TextItem {
  readonly index: number;
  readonly step: number;
  readonly wall: number;
  readonly shape?: readonly number[];
  readonly html?: string;
  readonly cells?: readonly string[]; // row-major
  readonly damage?: string; // why the text cannot be had
}

export interface TextPage {
  readonly total: number;
  readonly items: readonly TextItem[];
}

export interface TextQuestion {
  readonly run: string;
  readonly tag: string;
  readonly from: number; // negative: from the end
  readonly count: number;
  readonly raw: boolean;
  readonly q?: string;
}

export async function loadTexts(
  {run, tag, from, count, raw, q}: TextQuestion,
  options: AskOptions = {},
): Promise<TextPage> {
  const answer = await client().get<TextPage>(
    'text',
    {run, tag, from, count, render: raw ? 'raw' : 'html', q: q || undefined},
    options,
  );
  return {
    total: answer.total,
    items: answer.items.map(item => ({...item, step: numberOf(item.step), wall: numberOf(item.wall)})),
  };
}

export async function textSteps(run: string, tag: string): Promise<StepList> {
  return stepList(await client().get('text', {run, tag, steps: 1}));
}

/** Raw cells as rows of a table: rank 0 is one cell, rank 1 one column, rank 2 as it is, above that a column. */
export function rowsOf({shape = [], cells = []}: TextItem): string[][] {
  const columns = shape.length === 2 ? Math.max(1, shape[1] ?? 1) : 1;
  const rows: string[][] = [];
  for (let i = 0; i < cells.length; i += columns) rows.push(cells.slice(i, i + columns));
  return rows;
}
