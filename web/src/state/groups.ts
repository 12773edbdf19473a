// Pure rules of the run table: which group a run belongs to, which colour it gets. A spec is text so
// that it fits a link: none | run | group | dir | regex:<re> | hparam:<name>[,<name>…].
import type {Cell, Run} from '../data/types.ts';
import {mapColour, shade, slotStyle, type LineStyle} from '../draw/palette.ts';
import {formatValue} from '../text/format.ts';
import {compareNatural} from '../text/natural.ts';

export interface Group {
  readonly key: string; // shown
  readonly index: number; // order of first appearance: its colour
  readonly members: readonly Run[];
}

export type CellOf = (column: string, run: number) => Cell;

/** The key of a run's group, or null when it belongs to none. */
export function keyOf(spec: string, cell: CellOf): (run: Run) => string | null {
  if (spec === 'dir') return run => (run.name.includes('/') ? run.name.slice(0, run.name.lastIndexOf('/')) : '.');
  if (spec.startsWith('regex:')) {
    const re = compile(spec.slice(6));
    if (re === null) return () => null;
    return run => {
      const found = re.exec(run.name);
      if (found === null) return null;
      return found.length > 1
        ? found
            .slice(1)
            .map(part => part ?? '')
            .join(', ')
        : `/${spec.slice(6)}/`;
    };
  }
  if (spec.startsWith('hparam:')) {
    const names = spec.slice(7).split(',');
    return run => {
      const parts = names.map(name => cell(`hparam:${name}`, run.id));
      return parts.every(part => part === null)
        ? null
        : names
            .map((name, i) => (typeof parts[i] === 'string' ? parts[i] : `${name} ${cellText(parts[i]!)}`))
            .join(' · ');
    };
  }
  return () => null;
}

export function cellText(cell: Cell): string {
  return typeof cell === 'number' ? formatValue(cell) : cell === null ? '—' : String(cell);
}

export function groupRuns(runs: readonly Run[], spec: string, cell: CellOf): {groups: Group[]; rest: Run[]} {
  const key = keyOf(spec, cell);
  const members = new Map<string, Run[]>();
  const rest: Run[] = [];
  for (const run of runs) {
    const k = key(run);
    if (k === null) rest.push(run);
    else if (members.has(k)) members.get(k)!.push(run);
    else members.set(k, [run]);
  }
  const firstSlot = (list: readonly Run[]): number => list.reduce((least, run) => Math.min(least, run.slot), Infinity);
  const byAppearance = [...members.keys()].sort((a, b) => firstSlot(members.get(a)!) - firstSlot(members.get(b)!));
  const groups = byAppearance.map((k, index) => ({key: k, index, members: members.get(k)!}));
  groups.sort((a, b) => compareNatural(a.key, b.key));
  return {groups, rest};
}

/** The style of every run under a colour spec. `groups` are those of the group spec. */
export function styleRuns(
  runs: readonly Run[],
  spec: string,
  groups: readonly Group[],
  cell: CellOf,
  override: (run: Run) => string | undefined,
  dark: boolean,
  inactive: string,
  dashes: boolean,
  groupColour: (key: string) => string | undefined = () => undefined,
): Map<number, LineStyle> {
  const out = new Map<number, LineStyle>();
  const plain = (run: Run): LineStyle => slotStyle(run.slot, dark);
  let of: (run: Run) => LineStyle = plain;
  const fromGroups = (list: readonly Group[]): ((run: Run) => LineStyle) => {
    const styles = new Map<number, LineStyle>();
    for (const group of list) {
      const slot = slotStyle(group.index, dark);
      const base = {...slot, colour: (spec === 'group' ? groupColour(group.key) : undefined) ?? slot.colour};
      [...group.members]
        .sort((a, b) => a.slot - b.slot)
        .forEach((run, i) => {
          styles.set(run.id, {colour: shade(base.colour, i, dark), dash: base.dash});
        });
    }
    return run => styles.get(run.id) ?? {colour: inactive, dash: []};
  };
  if (spec === 'group' && groups.length > 0) of = fromGroups(groups);
  else if (spec.startsWith('regex:')) of = fromGroups(groupRuns(runs, spec, cell).groups);
  else if (spec.startsWith('hparam:')) of = byHparam(runs, spec, cell, dark, inactive, fromGroups);
  for (const run of runs) {
    const own = override(run);
    const style = own === undefined ? of(run) : {colour: own, dash: plain(run).dash};
    out.set(
      run.id,
      dashes && style.dash.length === 0 ? {...style, dash: slotStyle((run.slot % 4) * 24, dark).dash} : style,
    );
  }
  return out;
}

/** Numbers along the sequential map (log scale when they span two decades), the rest as categories. */
function byHparam(
  runs: readonly Run[],
  spec: string,
  cell: CellOf,
  dark: boolean,
  inactive: string,
  fromGroups: (groups: readonly Group[]) => (run: Run) => LineStyle,
): (run: Run) => LineStyle {
  const column = `hparam:${spec.slice(7).split(',')[0]}`;
  const values = runs.map(run => cell(column, run.id));
  const numbers = values.filter((value): value is number => typeof value === 'number' && Number.isFinite(value));
  const distinct = new Set(numbers);
  if (distinct.size < 6 || values.some(value => typeof value === 'string'))
    return fromGroups(groupRuns(runs, spec, cell).groups);
  let [lo, hi] = [Infinity, -Infinity];
  for (const value of distinct) [lo, hi] = [Math.min(lo, value), Math.max(hi, value)];
  const scale = lo > 0 && hi / lo > 100 ? Math.log : (value: number): number => value;
  return run => {
    const value = cell(column, run.id);
    if (typeof value !== 'number') return {colour: inactive, dash: []};
    const t = (scale(value) - scale(lo)) / (scale(hi) - scale(lo) || 1);
    return {colour: mapColour('ember', dark ? 0.34 + t * 0.58 : 0.12 + t * 0.58, dark), dash: []};
  };
}

/** A JavaScript regular expression, or null when it is none. */
export function compile(source: string, flags = ''): RegExp | null {
  try {
    return new RegExp(source, flags);
  } catch {
    return null;
  }
}
