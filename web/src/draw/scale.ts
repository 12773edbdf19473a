// Axes as functions: values to [0, 1] and back, ticks, and ranges that look right.
import {axisFormat, formatClock, formatDate, formatDuration, formatValue, trueMinus} from '../text/format.ts';

export type ScaleKind = 'linear' | 'log' | 'symlog';
/** What the numbers of an axis mean: it decides ticks and labels. */
export type AxisKind = 'value' | 'step' | 'relative' | 'wall';

export type Domain = readonly [number, number];

const FORWARD: Readonly<Record<ScaleKind, (v: number) => number>> = {
  linear: v => v,
  log: v => (v > 0 ? Math.log10(v) : -Infinity),
  symlog: v => Math.sign(v) * Math.log10(1 + Math.abs(v)),
};
const BACK: Readonly<Record<ScaleKind, (v: number) => number>> = {
  linear: v => v,
  log: v => 10 ** v,
  symlog: v => Math.sign(v) * (10 ** Math.abs(v) - 1),
};

export interface Scale {
  readonly kind: ScaleKind;
  readonly domain: Domain;
  /** 0 at the start of the domain, 1 at its end. */
  at(value: number): number;
  value(share: number): number;
}

export function createScale(kind: ScaleKind, domain: Domain): Scale {
  const forward = FORWARD[kind];
  const back = BACK[kind];
  const a = forward(domain[0]);
  const span = forward(domain[1]) - a || 1;
  return {kind, domain, at: v => (forward(v) - a) / span, value: share => back(a + share * span)};
}

/** Ticks at 1, 2, 5 × 10ⁿ, about `count` of them. */
export function linearTicks(a: number, b: number, count: number): number[] {
  const raw = (b - a) / Math.max(1, count);
  if (!(raw > 0) || !Number.isFinite(raw)) return [a];
  const power = 10 ** Math.floor(Math.log10(raw));
  const m = raw / power;
  const step = power * (m < 1.5 ? 1 : m < 3.5 ? 2 : m < 7.5 ? 5 : 10);
  const out: number[] = [];
  for (let k = Math.ceil(a / step - 1e-9); k * step <= b + step * 1e-9 && out.length < 100; k++) {
    out.push(k === 0 ? 0 : +(k * step).toPrecision(12));
  }
  return out;
}

function logTicks(a: number, b: number, count: number): number[] {
  const [lo, hi] = [Math.log10(a), Math.log10(b)];
  if (hi - lo < 0.5) return linearTicks(a, b, count);
  const out: number[] = [];
  const every = Math.max(1, Math.ceil((hi - lo) / Math.max(2, count)));
  for (let e = Math.floor(lo); e <= Math.ceil(hi); e++) {
    if (every > 1 && ((e % every) + every) % every !== 0) continue;
    for (const m of hi - lo < 1.6 ? [1, 2, 5] : [1]) {
      const v = +(m * 10 ** e).toPrecision(12);
      if (v >= a * (1 - 1e-9) && v <= b * (1 + 1e-9)) out.push(v);
    }
  }
  return out;
}

function symlogTicks(a: number, b: number, count: number): number[] {
  if (Math.max(Math.abs(a), Math.abs(b)) < 10) return linearTicks(a, b, count);
  const decades = Math.log10(1 + Math.abs(a)) + Math.log10(1 + Math.abs(b));
  const every = Math.max(1, Math.ceil(decades / Math.max(2, count)));
  const out: number[] = a <= 0 && b >= 0 ? [0] : [];
  for (let e = 0; e <= 308; e += every) {
    const v = 10 ** e;
    if (v > Math.max(Math.abs(a), Math.abs(b))) break;
    if (v >= a && v <= b) out.push(v);
    if (-v >= a && -v <= b) out.push(-v);
  }
  return out.sort((x, y) => x - y);
}

const TIME_STEPS = [
  1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800, 1209600,
  2592000, 7776000, 31536000,
];

function timeTicks(a: number, b: number, count: number, wall: boolean): number[] {
  const raw = (b - a) / Math.max(1, count);
  if (raw < 1) return linearTicks(a, b, count);
  const step = TIME_STEPS.find(candidate => candidate >= raw) ?? 31536000 * Math.ceil(raw / 31536000);
  const shift = wall ? new Date(a * 1000).getTimezoneOffset() * 60 : 0; // steps of hours and days begin at local midnight
  const out: number[] = [];
  for (let k = Math.ceil((a - shift) / step); k * step + shift <= b && out.length < 100; k++)
    out.push(k * step + shift);
  return out;
}

export interface Ticks {
  readonly values: readonly number[];
  readonly labels: readonly string[];
  /** A second row where the coarser unit changes (days under hours). */
  readonly under?: readonly (string | null)[];
}

export function ticksOf(scale: Scale, kind: AxisKind, count: number): Ticks {
  const [a, b] = scale.domain;
  if (scale.kind === 'log') {
    const values = logTicks(a, b, count);
    return {values, labels: logLabels(values, kind)};
  }
  if (scale.kind === 'symlog') {
    const values = symlogTicks(a, b, count);
    return {values, labels: values.map(v => logLabels([v], kind)[0]!)};
  }
  if (kind === 'wall') {
    const values = timeTicks(a, b, count, true);
    const step = values.length > 1 ? values[1]! - values[0]! : b - a;
    const label = (v: number): string =>
      step >= 86400 ? formatDate(v) : step >= 60 ? formatClock(v).slice(0, 5) : formatClock(v);
    let day = '';
    const under = values.map(v => {
      if (step >= 86400 || formatDate(v) === day) return null;
      day = formatDate(v);
      return day;
    });
    return {values, labels: values.map(label), under};
  }
  if (kind === 'relative') {
    const values = timeTicks(a, b, count, false);
    return {values, labels: values.map(v => (v === 0 ? '0' : shortDuration(v)))};
  }
  const round = linearTicks(a, b, count);
  const whole = kind === 'step' ? round.filter(Number.isInteger) : []; // there is no step 0.5
  const values = whole.length > 1 ? whole : round;
  return {values, labels: values.map(axisFormat(values))};
}

/** "90 min" reads worse than "1.5 h" on an axis: one unit, at most three digits. */
function shortDuration(seconds: number): string {
  const units: readonly (readonly [number, string])[] = [
    [86400, 'd'],
    [3600, 'h'],
    [60, 'min'],
    [1, 's'],
  ];
  const size = Math.abs(seconds);
  if (size < 1) return formatDuration(seconds);
  const [unit, name] = units.find(([length]) => size >= length)!;
  return `${trueMinus(String(+(seconds / unit).toPrecision(3)))}\u202f${name}`;
}

function logLabels(values: readonly number[], kind: AxisKind): string[] {
  if (kind === 'relative') return values.map(shortDuration);
  return values.map(v => (Math.abs(v) >= 1e4 && Math.abs(v) < 1e13 ? axisFormat([v])(v) : formatValue(v, 3)));
}

/** The range to show for data between lo and hi: padded and rounded outwards so that ticks end it. */
export function niceDomain(kind: ScaleKind, lo: number, hi: number): Domain {
  if (!(lo <= hi)) return kind === 'log' ? [0.1, 10] : [0, 1];
  if (kind === 'log') {
    if (hi <= 0) return [Number.MIN_VALUE, 1];
    const from = lo > 0 ? lo : hi * 1e-3;
    // A tenth of the span at each end, at most a factor of two: 0.85 … 1 is not drawn from 0.5 to 2.
    const room = from === hi ? 2 : Math.min(2, Math.max(1.005, (hi / from) ** 0.1));
    return [from / room, hi * room];
  }
  if (lo === hi) return lo === 0 ? [-1, 1] : lo < 0 ? [2 * lo, 0] : [0, 2 * lo];
  if (kind === 'symlog') {
    const scale = createScale('symlog', [lo, hi]);
    return [scale.value(-0.05), scale.value(1.05)];
  }
  const pad = (hi - lo) * 0.05;
  let [a, b] = [lo - pad, hi + pad];
  // Twice, because the rounded range may have another tick distance.
  for (let i = 0; i < 2; i++) {
    const ticks = linearTicks(a, b, 10);
    const step = ticks.length > 1 ? ticks[1]! - ticks[0]! : 0;
    if (step <= 0) break;
    a = Math.floor(a / step + 1e-9) * step;
    b = Math.ceil(b / step - 1e-9) * step;
  }
  return [+a.toPrecision(12), +b.toPrecision(12)];
}
