// The best trials: what they have in common, how the best was reached, which of them no other beats in two
// metrics at once.
import {shortNumber} from '../../text/format.ts';
import type {Column} from './model.ts';

/** Rows that pass and have the objective, best first. */
export function ranked(objective: Column, rows: ArrayLike<number>, goal: 'max' | 'min'): number[] {
  const sign = goal === 'max' ? -1 : 1;
  return Array.from(rows)
    .filter(row => Number.isFinite(objective.v[row]!))
    .sort((a, b) => (objective.v[a]! - objective.v[b]!) * sign || a - b);
}

export interface Common {
  readonly column: Column;
  /** Texts and few numbers: the most frequent value and its share among the best and among all. */
  readonly value?: string;
  readonly share?: number;
  readonly shareAll?: number;
  /** Numbers: the middle half among the best and among all. */
  readonly best?: readonly [number, number];
  readonly all?: readonly [number, number];
}

export function inCommon(columns: readonly Column[], best: readonly number[], all: readonly number[]): Common[] {
  return columns.map((column): Common => {
    if (column.names !== null || column.distinct.length <= 10) {
      const count = (rows: readonly number[]): Map<number, number> => {
        const counts = new Map<number, number>();
        for (const row of rows)
          if (Number.isFinite(column.v[row]!)) counts.set(column.v[row]!, (counts.get(column.v[row]!) ?? 0) + 1);
        return counts;
      };
      const [inBest, inAll] = [count(best), count(all)];
      const top = [...inBest].sort((a, b) => b[1] - a[1] || a[0] - b[0])[0];
      if (top === undefined) return {column};
      return {
        column,
        value: column.names === null ? shortNumber(top[0]) : column.names[top[0]]!,
        share: top[1] / best.length,
        shareAll: (inAll.get(top[0]) ?? 0) / Math.max(1, all.length),
      };
    }
    const middle = (rows: readonly number[]): readonly [number, number] => {
      const values = rows
        .map(row => column.v[row]!)
        .filter(Number.isFinite)
        .sort((a, b) => a - b);
      const at = (q: number): number =>
        values[Math.min(values.length - 1, Math.max(0, Math.round(q * (values.length - 1))))] ?? NaN;
      return [at(0.25), at(0.75)];
    };
    return {column, best: middle(best), all: middle(all)};
  });
}

/** Rows that no other row beats in one metric without losing in the other; by the first metric, best first. */
export function paretoFront(
  first: Column,
  second: Column,
  rows: ArrayLike<number>,
  goals: readonly ['max' | 'min', 'max' | 'min'],
): number[] {
  const [a, b] = goals.map(goal => (goal === 'max' ? 1 : -1)) as [number, number];
  const order = Array.from(rows)
    .filter(row => Number.isFinite(first.v[row]!) && Number.isFinite(second.v[row]!))
    .sort((x, y) => (first.v[y]! - first.v[x]!) * a || (second.v[y]! - second.v[x]!) * b || x - y);
  let best = -Infinity;
  return order.filter(row => {
    const value = second.v[row]! * b;
    if (value <= best) return false;
    best = value;
    return true;
  });
}
