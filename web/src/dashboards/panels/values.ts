// What panels of single values show: one value a run out of a column of the run table, or the values of each group.
import type {NumberPick} from '../../data/pages.ts';
import type {Cell} from '../../data/types.ts';

export interface RunValue {
  readonly id: number; // of the run
  readonly name: string;
  readonly colour: string;
  readonly value: number;
  readonly last: number | null; // time of the newest point, seconds
}

export interface ValueGroup {
  readonly name: string;
  readonly colour: string;
  readonly values: readonly RunValue[];
}

export interface Bar {
  readonly key: string;
  readonly name: string;
  readonly colour: string;
  readonly value: number;
  readonly count: number; // runs behind it
  readonly run: number | null;
}

export interface BoxStats {
  readonly min: number;
  readonly q1: number;
  readonly median: number;
  readonly q3: number;
  readonly max: number;
}

/** A cell as a number; NaN when it is none. Truth is 1: shares of runs can be compared. */
export function numberOf(cell: Cell | undefined): number {
  return typeof cell === 'number' ? cell : typeof cell === 'boolean' ? Number(cell) : NaN;
}

/** The value at a share of a sorted list, between neighbours linearly. */
export function quantileOf(sorted: readonly number[], share: number): number {
  if (sorted.length === 0) return NaN;
  const at = share * (sorted.length - 1);
  const low = Math.floor(at);
  const high = Math.min(sorted.length - 1, low + 1);
  return sorted[low]! + (at - low) * (sorted[high]! - sorted[low]!);
}

export function boxOf(values: readonly number[]): BoxStats | null {
  const sorted = values.filter(value => Number.isFinite(value)).sort((a, b) => a - b);
  if (sorted.length === 0) return null;
  const [q1, median, q3] = [0.25, 0.5, 0.75].map(share => quantileOf(sorted, share)) as [number, number, number];
  return {min: sorted[0]!, q1, median, q3, max: sorted.at(-1)!};
}

function meanOf(values: readonly RunValue[]): number {
  return values.reduce((sum, one) => sum + one.value, 0) / values.length;
}

/** A bar a run, or the mean of a group; the largest first. */
export function barsOf(groups: readonly ValueGroup[], grouped: boolean): Bar[] {
  const bars = groups.flatMap((group): Bar[] => {
    const found = group.values.filter(one => Number.isFinite(one.value));
    if (found.length === 0) return [];
    if (!grouped)
      return found.map(one => ({
        key: `r${one.id}`,
        name: one.name,
        colour: one.colour,
        value: one.value,
        count: 1,
        run: one.id,
      }));
    return [
      {
        key: `g${group.name}`,
        name: group.name,
        colour: group.colour,
        value: meanOf(found),
        count: found.length,
        run: null,
      },
    ];
  });
  return bars.sort((a, b) => b.value - a.value);
}

/** Where a bar begins and how long it is, as shares of the room; bars stand on 0. */
export function spanOf(value: number, bars: readonly Bar[]): {from: number; length: number} {
  const low = Math.min(0, ...bars.map(bar => bar.value));
  const high = Math.max(0, ...bars.map(bar => bar.value));
  const width = high - low || 1;
  return {from: (Math.min(0, value) - low) / width, length: Math.abs(value) / width};
}

/** The one number of a panel, and the run it comes from (null: from all). */
export function pickOf(
  values: readonly RunValue[],
  pick: NumberPick,
): {value: number; of: RunValue | null; count: number} | null {
  const found = values.filter(one => Number.isFinite(one.value));
  if (found.length === 0) return null;
  if (pick === 'mean') return {value: meanOf(found), of: null, count: found.length};
  const better = (a: RunValue, b: RunValue): boolean =>
    pick === 'min' ? a.value < b.value : pick === 'max' ? a.value > b.value : (a.last ?? 0) > (b.last ?? 0);
  const of = found.reduce((best, one) => (better(one, best) ? one : best));
  return {value: of.value, of, count: found.length};
}
