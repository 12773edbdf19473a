// The run table as a flat list: groups, their members while unfolded, runs without a group.
import type {Run} from '../data/types.ts';
import type {Group} from '../state/groups.ts';

export type Row =
  | {readonly kind: 'group'; readonly id: string; readonly group: Group; readonly open: boolean}
  | {
      readonly kind: 'run';
      readonly id: string;
      readonly run: Run;
      readonly depth: number;
      readonly group: Group | null;
    };

export function rowsOf(groups: readonly Group[], rest: readonly Run[], folded: ReadonlySet<string>): Row[] {
  const out: Row[] = [];
  for (const group of groups) {
    const open = !folded.has(group.key);
    out.push({kind: 'group', id: `g ${group.key}`, group, open});
    if (open) for (const run of group.members) out.push({kind: 'run', id: `r ${run.id}`, run, depth: 1, group});
  }
  for (const run of rest) out.push({kind: 'run', id: `r ${run.id}`, run, depth: 0, group: null});
  return out;
}

const NAME_PX = 130; // check box, swatch and a readable name
const COLUMN_PX = 54;

/** How many columns a panel of this width has room for, at least one. */
export function columnsIn(width: number): number {
  return Math.max(1, Math.floor((width - NAME_PX) / COLUMN_PX));
}

export function panelWidthFor(columns: number): number {
  return NAME_PX + COLUMN_PX * columns;
}

export function meanAndSpread(values: readonly number[]): {mean: number; std: number} {
  const finite = values.filter(value => Number.isFinite(value));
  const mean = finite.reduce((sum, value) => sum + value, 0) / finite.length;
  const std =
    finite.length < 2
      ? 0
      : Math.sqrt(finite.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (finite.length - 1));
  return {mean, std};
}
