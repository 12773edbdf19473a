// The three clocks of an x axis: step, time since the start, wall time.
import {axisFormat, formatClock, formatDate, formatDuration, formatStep, formatTime} from './format.ts';

export type TimeKind = 'step' | 'relative' | 'wall';

/** Positions of points on the axis. Relative time counts from the first point of the series. */
export function timesOf(kind: TimeKind, steps: Float64Array, walls: Float64Array): Float64Array {
  if (kind === 'step') return steps;
  if (kind === 'wall') return walls;
  const first = walls[0] ?? 0;
  return walls.map(wall => wall - first);
}

/** Labels of an axis: dates where the axis spans days, clock times otherwise. */
export function timeLabels(kind: TimeKind): (ticks: readonly number[]) => (value: number) => string {
  if (kind === 'step') return axisFormat;
  if (kind === 'relative') return () => formatDuration;
  return ticks => {
    const span = (ticks[ticks.length - 1] ?? 0) - (ticks[0] ?? 0);
    return span > 172_800 ? formatDate : formatClock;
  };
}

/** One time in text. */
export function timeText(kind: TimeKind, value: number): string {
  return kind === 'step' ? formatStep(value) : kind === 'relative' ? formatDuration(value) : formatTime(value);
}

/** Times where room is short, all in one unit: `all` decides which. */
export function timeShort(kind: TimeKind, all: Float64Array): (value: number) => string {
  if (kind === 'wall') return formatClock;
  if (kind === 'relative') return formatDuration;
  const first = all[0] ?? 0;
  const last = all[all.length - 1] ?? 0;
  return Math.max(Math.abs(first), Math.abs(last)) >= 1e4
    ? axisFormat([first, last].sort((a, b) => a - b))
    : formatStep;
}
