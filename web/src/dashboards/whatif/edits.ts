// Editing by text: a cell as it is typed, a formula over many examples.
import type {Cell} from '../../data/whatif.ts';

/** A cell as text for a field: lists with commas. */
export function cellText(cell: Cell | undefined): string {
  if (cell === null || cell === undefined) return '';
  if (Array.isArray(cell)) return cell.map(one => (one === null ? '' : String(one))).join(', ');
  if (typeof cell === 'object') return '';
  return String(cell);
}

/** What was typed, in the column's kind; undefined when it does not fit. */
export function typedCell(text: string, isNumeric: boolean, isList: boolean): unknown {
  const one = (part: string): unknown => {
    const trimmed = part.trim();
    if (!isNumeric) return isList ? trimmed : part;
    if (trimmed === '') return null;
    const value = Number(trimmed.replaceAll('\u2212', '-'));
    return Number.isFinite(value) ? value : undefined;
  };
  if (!isList) return text === '' ? null : one(text);
  const parts = text.trim() === '' ? [] : text.split(',').map(one);
  return parts.includes(undefined) ? undefined : parts;
}

export interface Formula {
  readonly feature: string;
  readonly apply: (old: number) => number;
}

/** "age + 5", "age * 1.1", "age = 40": one step of arithmetic on a feature; null when it is none. */
export function parseFormula(text: string, features: readonly string[]): Formula | null {
  const found = /^\s*(.+?)\s*([=+\-*/])\s*(?:(.+?)\s*([+\-*/])\s*)?(-?\d+(?:\.\d+)?(?:e-?\d+)?)\s*$/i.exec(text);
  if (found === null) return null;
  const [, left, first, again, second, digits] = found;
  const feature = left!.trim();
  if (!features.includes(feature) || (again !== undefined && (first !== '=' || again.trim() !== feature))) return null;
  const by = Number(digits);
  const sign = second ?? first!;
  const apply: Record<string, (old: number) => number> = {
    '=': () => by,
    '+': old => old + by,
    '-': old => old - by,
    '*': old => old * by,
    '/': old => old / by,
  };
  return {feature, apply: apply[sign]!};
}

export interface Bins {
  readonly lo: number;
  readonly hi: number;
  readonly counts: readonly number[];
}

/** Counts of values in bins of equal width over their whole range. */
export function binned(values: readonly number[], bins: number): Bins {
  let [lo, hi] = [Math.min(...values), Math.max(...values)];
  // Rounding alone is no spread.
  const least = 1e-9 * Math.max(Math.abs(lo), Math.abs(hi));
  if (!(hi - lo > least)) {
    const room = Math.max(Math.abs(lo) / 10, 1e-3);
    [lo, hi] = Number.isFinite(lo) ? [lo - room, hi + room] : [0, 1];
  }
  const counts = new Array<number>(bins).fill(0);
  for (const v of values) counts[Math.min(bins - 1, Math.floor(((v - lo) / (hi - lo)) * bins))]!++;
  return {lo, hi, counts};
}
