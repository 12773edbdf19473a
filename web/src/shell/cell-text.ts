// What a cell of the run table says: the value, or with a baseline how far it is from the baseline's.
import type {Cell} from '../data/types.ts';
import {cellText} from '../state/groups.ts';
import {exactValue, formatValue} from '../text/format.ts';
import {t} from '../text/messages.ts';

export interface CellWords {
  readonly text: string;
  readonly title: string;
  readonly isDelta: boolean;
}

const signed = (value: number, format: (value: number) => string): string =>
  value === 0 ? '±0' : `${value > 0 ? '+' : '\u2212'}${format(Math.abs(value))}`;

/** `base`: the baseline's name and its cell; null for the baseline itself, or without one. */
export function wordsOf(
  cell: Cell,
  format: ((value: number) => string) | undefined,
  base: {readonly name: string; readonly cell: Cell} | null,
): CellWords {
  if (typeof cell !== 'number') return {text: cell === null ? '' : String(cell), title: cellText(cell), isDelta: false};
  const write = format ?? formatValue;
  if (base === null || typeof base.cell !== 'number' || !Number.isFinite(cell) || !Number.isFinite(base.cell))
    return {text: write(cell), title: exactValue(cell), isDelta: false};
  const delta = cell - base.cell;
  return {
    text: signed(delta, write),
    title: t('shell.delta', {value: exactValue(cell), delta: signed(delta, formatValue), run: base.name}),
    isDelta: true,
  };
}
