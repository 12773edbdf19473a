// Where a curve goes wrong: its first value that is no number, and its first jump.
import type {ChartSeries} from '../../draw/chart-model.ts';

export interface Trouble {
  readonly kind: 'nan' | 'jump';
  readonly index: number; // of the series' point
}

const HISTORY = 8;
const JUMP = 20; // times the median of the values before, as the alerts of a recording count it

export function troublesOf(series: ChartSeries): readonly Trouble[] {
  const values = series.raw ?? series.y;
  const list: Trouble[] = [];
  const last: number[] = [];
  let jumped = false;
  for (let i = 0; i < series.x.length; i++) {
    const value = values[i]!;
    if (!Number.isFinite(value) || (series.nan?.[i] ?? 0) > 0) {
      list.push({kind: 'nan', index: i});
      break;
    }
    const size = Math.abs(value);
    if (!jumped && last.length === HISTORY) {
      const median = [...last].sort((a, b) => a - b)[HISTORY / 2]!;
      if (median > 0 && size > JUMP * median) {
        jumped = true;
        list.push({kind: 'jump', index: i});
      }
    }
    last.push(size);
    if (last.length > HISTORY) last.shift();
  }
  return list;
}
