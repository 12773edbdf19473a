// The colour of every point and the legend that explains it.
import type {LabelColumn} from '../../data/embeddings.ts';
import {mapTable, mapIndex} from '../../draw/colour-map.ts';
import type {ThemeColours} from '../../draw/theme-colours.ts';
import {channels, mapColour, slotStyle} from '../../draw/palette.ts';

export const MOST_CATEGORIES = 50; // distinct numbers beyond which a column is shown as a gradient

export type Legend =
  | {readonly kind: 'none'}
  | {
      readonly kind: 'words';
      readonly rows: readonly {
        readonly word: string;
        readonly count: number;
        readonly colour: string;
        readonly code: number;
      }[];
      readonly more: number;
      readonly repeats: boolean;
    }
  | {readonly kind: 'gradient'; readonly min: number; readonly max: number; readonly missing: number};

export interface Colours {
  readonly bytes: Uint8Array; // r g b a per row of the table
  readonly legend: Legend;
}

export const isGradient = (column: LabelColumn, categorical: boolean): boolean =>
  column.type === 'number' && column.values !== null && !categorical && column.words.length > MOST_CATEGORIES;

function put(bytes: Uint8Array, i: number, rgb: readonly number[], a = 255): void {
  bytes[i * 4] = rgb[0]!;
  bytes[i * 4 + 1] = rgb[1]!;
  bytes[i * 4 + 2] = rgb[2]!;
  bytes[i * 4 + 3] = a;
}

export function coloursOf(
  rows: number,
  column: LabelColumn | null,
  categorical: boolean,
  themed: ThemeColours,
): Colours {
  const bytes = new Uint8Array(rows * 4);
  if (column === null) {
    const plain = channels(slotStyle(0, themed.dark).colour);
    for (let i = 0; i < rows; i++) put(bytes, i, plain);
    return {bytes, legend: {kind: 'none'}};
  }
  if (isGradient(column, categorical)) return gradient(rows, bytes, column.values!, themed);
  const counts = new Uint32Array(column.words.length);
  for (let i = 0; i < rows; i++) counts[column.codes[i]!]!++;
  // The commonest value gets the first colour.
  const order = [...counts.keys()].sort((a, b) => counts[b]! - counts[a]! || a - b);
  const rank = new Uint32Array(order.length);
  order.forEach((code, i) => (rank[code] = i));
  const styles = order.map((code, i) => (column.words[code] === '' ? themed.text3 : slotStyle(i, themed.dark).colour));
  const rgb = styles.map(channels);
  for (let i = 0; i < rows; i++) put(bytes, i, rgb[rank[column.codes[i]!]!]!);
  const shown = order
    .slice(0, 24)
    .map((code, i) => ({word: column.words[code]!, count: counts[code]!, colour: styles[i]!, code}));
  return {bytes, legend: {kind: 'words', rows: shown, more: order.length - shown.length, repeats: order.length > 24}};
}

function gradient(rows: number, bytes: Uint8Array, values: Float64Array, themed: ThemeColours): Colours {
  let min = Infinity;
  let max = -Infinity;
  let missing = 0;
  for (let i = 0; i < rows; i++) {
    const v = values[i]!;
    if (!Number.isFinite(v)) missing++;
    else {
      if (v < min) min = v;
      if (v > max) max = v;
    }
  }
  const table = mapTable('seq', themed.dark);
  const absent = channels(themed.text3);
  for (let i = 0; i < rows; i++) {
    const v = values[i]!;
    if (!Number.isFinite(v)) put(bytes, i, absent);
    else {
      const at = mapIndex(max > min ? (v - min) / (max - min) : 0.5) * 3;
      put(bytes, i, [table[at]!, table[at + 1]!, table[at + 2]!]);
    }
  }
  return {bytes, legend: {kind: 'gradient', min, max, missing}};
}

/** How close a neighbour is, 1 = the same place: as TensorBoard counts. */
export function closeness(distance: number, nearest: number, metric: 'cosine' | 'euclidean'): number {
  if (metric === 'cosine') return 1 - distance;
  return distance > 0 ? nearest / distance : 1;
}
export const neighbourColour = (close: number, dark: boolean): string =>
  mapColour('ember', 0.25 + 0.6 * Math.max(0, Math.min(1, (close - 0.4) / 0.6)), dark);

export interface Marks {
  readonly chosen: ReadonlySet<number>; // rows
  readonly point: number;
  readonly near: ReadonlyMap<number, number>; // row → closeness
}

/** Colours and sizes of the points that are drawn: what is chosen stands out, the rest steps back. */
export function marked(
  base: Uint8Array,
  rows: Uint32Array,
  marks: Marks,
  themed: ThemeColours,
): {colours: Uint8Array; sizes: Uint8Array} {
  const colours = new Uint8Array(rows.length * 4);
  const sizes = new Uint8Array(rows.length).fill(64);
  const any = marks.chosen.size > 0 || marks.point >= 0;
  const faint = channels(themed.lineStrong);
  const hot = channels(themed.accent);
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i]!;
    const close = marks.near.get(row);
    if (row === marks.point) {
      put(colours, i, hot);
      sizes[i] = 128;
    } else if (close !== undefined) {
      put(colours, i, channels(neighbourColour(close, themed.dark)));
      sizes[i] = 92;
    } else if (!any || marks.chosen.has(row)) {
      colours.set(base.subarray(row * 4, row * 4 + 4), i * 4);
      if (any) sizes[i] = 88;
    } else {
      // Half of its own colour, so that the legend stays true.
      put(
        colours,
        i,
        [0, 1, 2].map(c => (base[row * 4 + c]! + faint[c]!) / 2),
        90,
      );
      sizes[i] = 48;
    }
  }
  return {colours, sizes};
}
