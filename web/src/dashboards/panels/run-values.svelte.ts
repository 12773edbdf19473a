// The values of a column for the runs of a page, by group.
import type {PanelPage} from '../../data/pages.ts';
import type {Run} from '../../data/types.ts';
import {runsOf} from '../../state/pages.svelte.ts';
import {runs} from '../../state/runs.svelte.ts';
import {numberOf, type RunValue, type ValueGroup} from './values.ts';

export function isGrouped(): boolean {
  return runs.groups.length > 0;
}

function valueOf(run: Run, column: string): RunValue {
  return {
    id: run.id,
    name: runs.shortName(run),
    colour: runs.lineStyle(run.id).colour,
    value: numberOf(runs.cell(column, run.id)),
    last: run.last,
  };
}

/** One group a group of the run table; without groups all runs are one. */
export function groupsOf(page: PanelPage, column: string, everything: string): ValueGroup[] {
  const own = runsOf(page);
  if (!isGrouped())
    return [
      {
        name: everything,
        colour: runs.lineStyle(own.runs[0]?.id ?? -1).colour,
        values: own.runs.map(run => valueOf(run, column)),
      },
    ];
  const groups = runs.groups.map(group => ({
    name: group.key,
    colour: runs.groupStyle(group).colour,
    values: group.members.filter(run => own.has(run.id)).map(run => valueOf(run, column)),
  }));
  return groups.filter(group => group.values.length > 0);
}

/** The runs that have a number in both columns. */
export function pairsOf(page: PanelPage, x: string, y: string): {x: RunValue; y: RunValue}[] {
  return runsOf(page)
    .runs.map(run => ({x: valueOf(run, x), y: valueOf(run, y)}))
    .filter(one => Number.isFinite(one.x.value) && Number.isFinite(one.y.value));
}
