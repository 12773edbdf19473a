// What the time axis counts from: the start of the trace, the step in view, the wall clock, or a moment of choice.
import type {TraceInfo, TraceSteps} from '../../../data/trace.ts';
import {timeLabel} from '../../../draw/trace/time-axis.ts';
import {t} from '../../../text/messages.ts';

export const CLOCKS = ['start', 'step', 'utc', 'zero'] as const;

export interface Clock {
  readonly title: string;
  readonly origin: number; // ps; ticks stand at round distances from here
  /** Writes moments of a stretch with the digits that a step of `step` ps needs. */
  labels(t0: number, t1: number, step: number): (ps: number) => string;
}

const DAY_NS = 86_400_000_000_000n;

/** Time of day in ps: all digits that a double keeps (16 ps at the end of a day). */
function timeOfDay(startNs: number | string): number {
  const ns = ((BigInt(startNs) % DAY_NS) + DAY_NS) % DAY_NS;
  return Number(ns) * 1000;
}

function wall(ps: number, step: number): string {
  const day = 86_400e12;
  const whole = ((ps % day) + day) % day;
  const seconds = Math.floor(whole / 1e12);
  const digits = Math.max(0, Math.min(12, Math.ceil(-Math.log10(step / 1e12) - 1e-9)));
  const two = (value: number): string => String(Math.floor(value)).padStart(2, '0');
  const fraction =
    digits === 0
      ? ''
      : `.${String(Math.round((whole - seconds * 1e12) / 10 ** (12 - digits)))
          .padStart(digits, '0')
          .slice(0, digits)}`;
  return `${two(seconds / 3600)}:${two((seconds / 60) % 60)}:${two(seconds % 60)}${fraction}`;
}

export function clockOf(
  kind: string,
  place: {
    readonly info: TraceInfo;
    readonly steps: TraceSteps | null;
    readonly middle: number;
    readonly zero: number | null;
  },
): Clock {
  const {info, steps, middle, zero} = place;
  const since = (title: string, origin: number, sign: string): Clock => ({
    title,
    origin,
    labels: (t0, t1, step) => {
      const label = timeLabel(Math.max(Math.abs(t0 - origin), Math.abs(t1 - origin)), step);
      return ps => (ps < origin ? `−${label(origin - ps)}` : `${sign}${label(ps - origin)}`);
    },
  });
  if (kind === 'utc' && info.start_ns !== undefined) {
    const offset = timeOfDay(info.start_ns);
    const date = new Date(Number(BigInt(info.start_ns) / 1_000_000n)).toISOString().slice(0, 10);
    return {
      title: t('trace.clock.utc.at', {date}),
      origin: -offset,
      labels: (_, __, step) => ps => wall(ps + offset, step),
    };
  }
  if (kind === 'step') {
    const step = steps?.steps.findLast(one => one.begin <= middle) ?? steps?.steps[0];
    if (step !== undefined) return since(t('trace.clock.step.at', {step: step.name}), step.begin, '+');
  }
  if (kind === 'zero' && zero !== null) return since(t('trace.clock.zero'), zero, '+');
  return since(t('trace.clock.start'), info.t0, '');
}
