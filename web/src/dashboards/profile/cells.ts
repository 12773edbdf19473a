// Numbers of a Report as people read them: the unit of the column decides.
import {formatPicos} from '../../draw/trace/time-axis.ts';
import {formatCount, formatMemory, formatValue} from '../../text/format.ts';
import type {Cell} from '../../data/profile.ts';

const PICOS: Readonly<Record<string, number>> = {ps: 1, ns: 1e3, us: 1e6, µs: 1e6, ms: 1e9, s: 1e12};

/** With its unit, adaptive: 45.2 ms, 34.1 GiB, 24.8 %. */
export function figureText(value: Cell, unit = ''): string {
  if (value === null) return '—';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  const number = Number(value);
  if (typeof value === 'string' && (unit === '' || !Number.isFinite(number))) return value;
  if (unit in PICOS) return formatPicos(number * PICOS[unit]!);
  if (unit === 'bytes') return formatMemory(number);
  if (unit === '%') return `${formatValue(number, 3)}\u202f%`;
  if (unit === 'fraction') return `${formatValue(number * 100, 3)}\u202f%`;
  return unit === '' ? formatValue(number, 5) : `${formatValue(number, 4)}\u202f${unit}`;
}

/** Inside a table: the unit stands in the header. */
export function cellText(value: Cell, unit = ''): string {
  if (value === null) return '';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'string') return value;
  if (unit === 'bytes') return formatMemory(value);
  if (unit === 'ps') return formatPicos(value);
  if (unit === 'fraction') return `${formatValue(value * 100, 3)}\u202f%`;
  if (Math.abs(value) >= 1e4 && Math.abs(value) < 1e15) return formatCount(value);
  return Number.isInteger(value) ? String(value) : formatValue(value, 4);
}

/** Change to a baseline in words: "+4.1 %"; of a share in points: "+1.2 pt". */
export function changeText(value: Cell, base: Cell, unit = ''): string {
  if (typeof value !== 'number' || typeof base !== 'number') return '';
  if (unit === '%' || unit === 'fraction') {
    const points = (value - base) * (unit === '%' ? 1 : 100);
    return `${points > 0 ? '+' : points < 0 ? '−' : '±'}${Math.abs(points).toFixed(1)}\u202fpt`;
  }
  if (base === 0) return '';
  const share = (value - base) / Math.abs(base);
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
