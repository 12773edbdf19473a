// The colour of a trial on this page: where it stands in the chosen column among those that pass.
import {mapColour, slotStyle} from '../../draw/palette.ts';
import {theme} from '../../state/theme.svelte.ts';
import {choiceOf} from './axis.ts';
import {trials} from './trials.svelte.ts';
import {view} from './view.svelte.ts';

const STEPS = 64;
const ramp = $derived(
  Array.from({length: STEPS}, (_, i) => {
    const t = i / (STEPS - 1);
    return mapColour('ember', theme.dark ? 0.34 + 0.58 * t : 0.12 + 0.58 * t, theme.dark);
  }),
);
const made = $derived.by(() => {
  const column = trials.data?.columns.get(trials.colour);
  if (column === undefined) return {column, lo: NaN, hi: NaN, log: false};
  const {pass} = trials;
  let [lo, hi] = [Infinity, -Infinity];
  for (let i = 0; i < column.v.length; i++) {
    const value = column.v[i]!;
    if (pass[i] !== 1 || !Number.isFinite(value)) continue;
    if (value < lo) lo = value;
    if (value > hi) hi = value;
  }
  return {
    column,
    lo: lo <= hi ? lo : NaN,
    hi: lo <= hi ? hi : NaN,
    log: choiceOf(column, view.scales[column.id]) === 'log',
  };
});

let hot = $state(-1);

export const shade = {
  get column() {
    return made.column;
  },
  get lo(): number {
    return made.lo;
  },
  get hi(): number {
    return made.hi;
  },
  get ramp(): readonly string[] {
    return ramp;
  },
  /** The row under the pointer, in any picture or the table; −1 = none. */
  get hot(): number {
    return hot;
  },
  set hot(row: number) {
    hot = row;
  },
};

/** The colour of every row, as a function that reads the state once. */
export function shadeOf(): (row: number) => string {
  const {column, lo, hi, log} = made;
  const [colours, none, dark] = [ramp, theme.colours.lineStrong, theme.dark];
  if (column === undefined) return () => none;
  if (column.names !== null) return row => (column.has[row] === 1 ? slotStyle(column.v[row]!, dark).colour : none);
  const f = log ? Math.log10 : (x: number): number => x;
  const [a, span] = [f(lo), f(hi) - f(lo) || 1];
  return row => {
    const share = (f(column.v[row]!) - a) / span;
    return share === share ? colours[Math.max(0, Math.min(STEPS - 1, Math.round(share * (STEPS - 1))))]! : none;
  };
}
