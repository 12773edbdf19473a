// Numbers of a Report as people read them: the unit of the column decides.
import {formatPicos} from '../../draw/trace/time-axis.ts';
import {formatCount, formatMemory, formatValue} from '../../text/format.ts';
import {t} from '../../text/messages.ts';
import type {Cell} from '../../data/profile.ts';

const PICOS: Readonly<Record<string, number>> = {ps: 1, ns: 1e3, us: 1e6, µs: 1e6, ms: 1e9, s: 1e12};
/** Rates of arithmetic and of memory, and what 1 of them is in the smallest unit that is shown. */
const RATES: readonly (readonly [string, readonly string[]])[] = [
  ['FLOP/s', ['MFLOP/s', 'GFLOP/s', 'TFLOP/s', 'PFLOP/s']],
  ['B/s', ['MB/s', 'GB/s', 'TB/s']],
];
const BYTES: Readonly<Record<string, number>> = {bytes: 1, B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30};

/** Whether a cell carries the unit that fits it: its column's header then has none. */
export const isAdaptive = (unit: string): boolean => unit in BYTES || unit === 'ps' || unit === 'fraction';
/** A unit as people write it. */
export const unitText = (unit: string): string => (unit === 'us' ? 'µs' : unit);

/** 1307000 GFLOP/s is 1307 TFLOP/s; null for what is no such rate. */
export function rateText(value: number, unit: string, most = 10_000): string | null {
  const units = RATES.find(([, list]) => list.includes(unit))?.[1];
  if (units === undefined) return null;
  let at = units.indexOf(unit);
  let shown = value;
  for (; Math.abs(shown) >= most && at + 1 < units.length; at++) shown /= 1000;
  for (; shown !== 0 && Math.abs(shown) < 0.1 && at > 0; at--) shown *= 1000;
  return `${formatValue(shown, 4)}\u202f${units[at]}`;
}

/** A share in per cent; what is next to nothing says so instead of an exponent. */
function percentText(percent: number): string {
  const least = 0.001;
  return percent !== 0 && Math.abs(percent) < least ? `<\u202f${least}\u202f%` : `${formatValue(percent, 3)}\u202f%`;
}

/** With its unit, adaptive: 45.2 ms, 34.1 GiB, 24.8 %. */
export function figureText(value: Cell, unit = ''): string {
  if (value === null) return '—';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  const number = Number(value);
  if (typeof value === 'string' && (unit === '' || !Number.isFinite(number))) return value;
  if (unit in PICOS) return formatPicos(number * PICOS[unit]!);
  if (unit in BYTES) return formatMemory(number * BYTES[unit]!);
  const rate = rateText(number, unit);
  if (rate !== null) return rate;
  if (unit === '%') return percentText(number);
  if (unit === 'fraction') return percentText(number * 100);
  return unit === ''
    ? Number.isInteger(number) && Math.abs(number) < 1e15
      ? formatCount(number)
      : formatValue(number, 5)
    : `${formatValue(number, 4)}\u202f${unit}`;
}

/** Inside a table: the unit stands in the header. */
export function cellText(value: Cell, unit = ''): string {
  if (value === null) return '';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'string') return value;
  if (unit in BYTES) return formatMemory(value * BYTES[unit]!);
  if (unit === 'ps') return formatPicos(value);
  if (unit === 'fraction') return percentText(value * 100);
  if (Math.abs(value) >= 1e4 && Math.abs(value) < 1e15) return formatCount(value);
  // Of a time the zeros are easier to compare down a column than an exponent.
  if (unit in PICOS && value !== 0 && Math.abs(value) < 1e-3 && Math.abs(value) >= 1e-7)
    return value.toFixed(Math.min(9, 2 - Math.floor(Math.log10(Math.abs(value)))));
  return Number.isInteger(value) ? String(value).replace('-', '\u2212') : formatValue(value, 4);
}

/** Change to a baseline in words: "+4.1 %"; of a share in points: "+1.2 pt"; of more than tenfold: "×34"; from nothing: "was 0". */
export function changeText(value: Cell, base: Cell, unit = ''): string {
  if (typeof value !== 'number' || typeof base !== 'number' || !Number.isFinite(value) || !Number.isFinite(base))
    return '';
  if (unit === '%' || unit === 'fraction') {
    const points = (value - base) * (unit === '%' ? 1 : 100);
    return `${points > 0 ? '+' : points < 0 ? '−' : '±'}${Math.abs(points).toFixed(1)}\u202fpt`;
  }
  if (base === 0) return value === 0 ? '±0.0\u202f%' : t('profile.was', {value: '0'});
  const share = (value - base) / Math.abs(base);
  if (share >= 10 && base > 0) return `×${formatValue(value / base, 3)}`;
  return `${share > 0 ? '+' : share < 0 ? '−' : '±'}${Math.abs(share * 100).toFixed(1)}\u202f%`;
}

export function compareCells(a: Cell, b: Cell): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return String(a ?? '').localeCompare(String(b ?? ''), 'en', {numeric: true});
}

/** All digits, for the tooltip. */
export function exactText(value: Cell, unit = ''): string {
  return value === null ? '' : `${value}${unit === '' ? '' : ` ${unit}`}`;
}
