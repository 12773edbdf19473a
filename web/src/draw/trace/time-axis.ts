// Ticks of a time axis in picoseconds and their labels, with one unit along the axis.

const UNITS: readonly (readonly [number, string])[] = [
  [1, 'ps'],
  [1e3, 'ns'],
  [1e6, 'µs'],
  [1e9, 'ms'],
  [1e12, 's'],
];

export interface TimeTicks {
  readonly ticks: readonly number[];
  readonly step: number;
  label(ps: number): string;
}

/** About one tick per 100 px, at 1, 2 or 5 times a power of ten. */
export function timeTicks(t0: number, t1: number, widthPx: number): TimeTicks {
  const raw = Math.max(1, ((t1 - t0) * 100) / Math.max(1, widthPx));
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * (raw / power <= 1 ? 1 : raw / power <= 2 ? 2 : raw / power <= 5 ? 5 : 10);
  const ticks: number[] = [];
  for (let tick = Math.ceil(t0 / step) * step; tick <= t1; tick += step) ticks.push(tick);
  return {ticks, step, label: timeLabel(Math.max(Math.abs(t0), Math.abs(t1)), step)};
}

/** Writes times up to `largest` in one unit, with the digits that a step of `step` needs. */
export function timeLabel(largest: number, step: number): (ps: number) => string {
  let unit = UNITS[0]!;
  for (const entry of UNITS) if (Math.max(largest, step) >= entry[0]) unit = entry;
  const decimals = Math.max(0, Math.min(12, Math.ceil(-Math.log10(step / unit[0]) - 1e-9)));
  return ps => `${(ps / unit[0]).toFixed(decimals)}\u202f${unit[1]}`;
}

/** 130.7 µs: three to four digits with the unit that fits. */
export function formatPicos(ps: number): string {
  const size = Math.abs(ps);
  if (size === 0) return '0\u202fs';
  let unit = UNITS[0]!;
  for (const entry of UNITS) if (size >= entry[0] * 0.9995) unit = entry;
  const value = ps / unit[0];
  return `${Math.abs(value) >= 1000 ? value.toFixed(0) : value.toPrecision(4).replace(/\.?0+$/, '')}\u202f${unit[1]}`;
}
