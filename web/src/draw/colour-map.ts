// The data colour maps (design.md §2.4) as look-up tables, for code that colours many pixels.
import {channels, mapStops} from './palette.ts';

export type MapName = 'seq' | 'ember' | 'div';

const SIZE = 256;
const tables = new Map<string, Uint8ClampedArray>();

/** 256 RGB triples, linearly interpolated between the stops. */
export function mapTable(name: MapName, dark: boolean): Uint8ClampedArray {
  const key = `${name}${name !== 'ember' && dark ? '/dark' : ''}`;
  const known = tables.get(key);
  if (known) return known;
  const stops = mapStops(name, dark).map(channels);
  const table = new Uint8ClampedArray(SIZE * 3);
  for (let i = 0; i < SIZE; i++) {
    const at = (i / (SIZE - 1)) * (stops.length - 1);
    const low = Math.min(Math.floor(at), stops.length - 2);
    for (let c = 0; c < 3; c++) {
      const a = stops[low]![c]!;
      table[i * 3 + c] = a + (stops[low + 1]![c]! - a) * (at - low);
    }
  }
  tables.set(key, table);
  return table;
}

/** Colour at t in 0…1 (clamped) as a CSS colour. */
export function tableColour(table: Uint8ClampedArray, t: number): string {
  const i = mapIndex(t) * 3;
  return `rgb(${table[i]} ${table[i + 1]} ${table[i + 2]})`;
}

/** Row of the table for t in 0…1; NaN is treated as 0. */
export function mapIndex(t: number): number {
  if (!(t > 0)) return 0;
  return t >= 1 ? SIZE - 1 : Math.round(t * (SIZE - 1));
}
