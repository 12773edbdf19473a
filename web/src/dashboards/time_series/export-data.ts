// Points as text: shortest digits that read back to the same number, ASCII only.
import {exactValue} from '../../text/format.ts';

export interface PointSeries {
  readonly run: string;
  readonly tag: string;
  readonly step: ArrayLike<number>;
  readonly wall: ArrayLike<number>;
  readonly value: ArrayLike<number>;
  readonly smoothed: ArrayLike<number> | null;
}

export type Layout = 'tidy' | 'wide' | 'tensorboard';

/** CSS px of a published picture: a column, a page, a slide. */
export const PICTURE_SIZES: Readonly<Record<string, {width: number; height: number}>> = {
  single: {width: 340, height: 230},
  double: {width: 700, height: 380},
  slide: {width: 960, height: 540},
  square: {width: 480, height: 480},
};

export function toCsv(series: readonly PointSeries[], layout: Layout, smoothed: boolean): string {
  if (layout === 'wide') return wideCsv(series);
  const lines: string[] = [];
  if (layout === 'tensorboard') {
    // TensorBoard's own columns, one run after the other.
    lines.push('Wall time,Step,Value');
    for (const one of series)
      for (let i = 0; i < one.step.length; i++)
        lines.push(`${number(one.wall[i]!)},${number(one.step[i]!)},${number(one.value[i]!)}`);
  } else {
    lines.push(`run,tag,step,wall_time,value${smoothed ? ',smoothed' : ''}`);
    for (const one of series) {
      const head = `${quote(one.run)},${quote(one.tag)}`;
      for (let i = 0; i < one.step.length; i++) {
        lines.push(
          `${head},${number(one.step[i]!)},${number(one.wall[i]!)},${number(one.value[i]!)}${smoothed ? `,${number(one.smoothed?.[i] ?? NaN)}` : ''}`,
        );
      }
    }
  }
  return `${lines.join('\n')}\n`;
}

/** One row a step, one column a series. */
function wideCsv(series: readonly PointSeries[]): string {
  const rows = new Map<number, (string | undefined)[]>();
  series.forEach((one, column) => {
    for (let i = 0; i < one.step.length; i++) {
      const step = one.step[i]!;
      let row = rows.get(step);
      if (row === undefined) rows.set(step, (row = []));
      row[column] = number(one.value[i]!);
    }
  });
  const several = new Set(series.map(one => one.tag)).size > 1;
  const lines = [['step', ...series.map(one => quote(several ? `${one.run} ${one.tag}` : one.run))].join(',')];
  for (const step of [...rows.keys()].sort((a, b) => a - b)) {
    const row = rows.get(step)!;
    lines.push([number(step), ...series.map((_, column) => row[column] ?? '')].join(','));
  }
  return `${lines.join('\n')}\n`;
}

/** One series: TensorBoard's list of [wall, step, value]; several: objects with run and tag. */
export function toJson(series: readonly PointSeries[], smoothed: boolean): string {
  const json = (v: number): number | string => (Number.isFinite(v) ? v : exactValue(v));
  const rows = (one: PointSeries): unknown[] =>
    Array.from({length: one.step.length}, (_, i) => {
      const row: unknown[] = [json(one.wall[i]!), json(one.step[i]!), json(one.value[i]!)];
      if (smoothed) row.push(json(one.smoothed?.[i] ?? NaN));
      return row;
    });
  if (series.length === 1) return JSON.stringify(rows(series[0]!));
  return JSON.stringify(series.map(one => ({run: one.run, tag: one.tag, points: rows(one)})));
}

function number(value: number): string {
  return exactValue(value);
}

function quote(text: string): string {
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
