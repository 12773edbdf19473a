// How a column of the run table writes its numbers, and how wide it is.
import {runs} from '../state/runs.svelte.ts';
import {columnFormat} from '../text/format.ts';

const CELL_CHARACTERS = 7;
const MOST_RUNS = 2000; // looked at for the width
const [NARROWEST, WIDEST] = [48, 76];

export interface ColumnLayout {
  readonly format: (value: number) => string;
  readonly px: number;
}

/** A number is never cut: one without its exponent would be another number. Long ones have a digit less and a wider
 *  column. */
export function columnLayout(column: string): ColumnLayout {
  const numbers = runs.listed
    .slice(0, MOST_RUNS)
    .map(run => runs.cell(column, run.id))
    .filter(cell => typeof cell === 'number');
  const longest = (format: (value: number) => string): number =>
    numbers.reduce((most, value) => Math.max(most, format(value).length), 0);
  const usual = columnFormat(numbers);
  const format = longest(usual) > CELL_CHARACTERS ? columnFormat(numbers, 3) : usual;
  return {format, px: Math.min(WIDEST, Math.max(NARROWEST, 8 * longest(format) + 6))};
}
