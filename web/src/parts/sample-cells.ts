// Cells of a table as text, numbers and parts; nothing here trusts what a cell claims to be.
import type {CellKind, SampleRow} from '../data/run-files.ts';
import {visible} from '../text/ansi.ts';

export interface Message {
  readonly role: string;
  readonly content: string;
  readonly calls: string; // tool calls as JSON, '' without any
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The text of a cell on one line, for lists, search and titles. */
export function cellText(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return visible(value);
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const tokens = tokensOf(value);
  if (tokens !== null) return visible(tokens.words.join(''));
  const messages = messagesOf(value);
  if (messages !== null) return messages.map(one => `${one.role}: ${one.content}`).join(' ⏎ ');
  if (isObject(value) && typeof value['_media'] === 'string') return String(value['caption'] ?? value['kind'] ?? '');
  return visible(JSON.stringify(value));
}

export function mediaPath(value: unknown): string | null {
  return isObject(value) && typeof value['_media'] === 'string' ? value['_media'] : null;
}

export function messagesOf(value: unknown): readonly Message[] | null {
  if (!Array.isArray(value) || value.length === 0) return null;
  const out: Message[] = [];
  for (const one of value as unknown[]) {
    if (!isObject(one)) return null;
    const role = one['role'] ?? one['from']; // ShareGPT says from and value
    if (typeof role !== 'string') return null;
    const content = one['content'] ?? one['value'];
    const calls = one['tool_calls'];
    out.push({
      role: visible(role),
      content: visible(
        typeof content === 'string' ? content : content === undefined || content === null ? '' : partsText(content),
      ),
      calls: calls === undefined || calls === null ? '' : visible(JSON.stringify(calls, null, 1)),
    });
  }
  return out;
}

/** Content in parts, as multimodal programs write it: the texts, and what the others are. */
function partsText(content: unknown): string {
  if (!Array.isArray(content)) return JSON.stringify(content);
  return (content as unknown[])
    .map(part =>
      isObject(part) && typeof part['text'] === 'string'
        ? part['text']
        : isObject(part) && typeof part['type'] === 'string'
          ? `[${part['type']}]`
          : JSON.stringify(part),
    )
    .join('\n');
}

export interface TokenCell {
  readonly words: readonly string[];
  readonly values: Readonly<Record<string, readonly number[]>>;
}

export function tokensOf(value: unknown): TokenCell | null {
  if (!isObject(value) || !Array.isArray(value['_tokens'])) return null;
  const words = (value['_tokens'] as unknown[]).map(String);
  const values: Record<string, readonly number[]> = {};
  if (isObject(value['values'])) {
    for (const [name, list] of Object.entries(value['values']))
      if (Array.isArray(list)) values[name] = words.map((_, i) => Number(list[i] ?? NaN));
  }
  return {words, values};
}

/** Where each value stands between the smallest and the largest, 0 … 1; NaN stays NaN. */
export function shares(values: readonly number[]): number[] {
  const finite = values.filter(Number.isFinite);
  const low = Math.min(...finite);
  const high = Math.max(...finite);
  return values.map(value => (Number.isFinite(value) ? (high > low ? (value - low) / (high - low) : 0.5) : NaN));
}

export const isNumeric = (kind: CellKind): boolean => kind === 'number' || kind === 'bool';

/** Rows of two steps side by side: by the value of a column, or by their position. */
export function pairRows(
  here: readonly SampleRow[],
  there: readonly SampleRow[],
  column: string,
): {readonly row: SampleRow; readonly other: SampleRow | null}[] {
  if (column === '') return here.map((row, i) => ({row, other: there[i] ?? null}));
  const waiting = new Map<string, SampleRow[]>();
  for (const row of there) {
    const key = cellText(row.cells?.[column]);
    waiting.set(key, [...(waiting.get(key) ?? []), row]);
  }
  return here.map(row => ({row, other: waiting.get(cellText(row.cells?.[column]))?.shift() ?? null}));
}
