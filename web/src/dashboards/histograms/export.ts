// Histograms as CSV: the bins as shown, or one line of statistics a step.
import {statsOf, type HistogramSeries} from '../../draw/histogram.ts';
import {saveFile} from '../../parts/clipboard.ts';
import {exactValue} from '../../text/format.ts';

export function binRows(series: HistogramSeries): string[][] {
  const bins = series.edges.length - 1;
  const rows = [['step', 'wall_time', 'left', 'right', 'count']];
  for (let s = 0; s < series.steps.length; s++) {
    for (let b = 0; b < bins; b++) {
      rows.push([series.steps[s]!, series.walls[s]!, series.edges[b]!, series.edges[b + 1]!, series.counts[s * bins + b]!].map(exactValue));
    }
  }
  return rows;
}

export function statRows(series: HistogramSeries): string[][] {
  const rows = [['step', 'wall_time', 'count', 'mean', 'deviation', 'min', 'max', 'non_finite', 'p0', 'p6.68', 'p15.87', 'p30.85', 'p50', 'p69.15', 'p84.13', 'p93.32', 'p100']];
  for (let s = 0; s < series.steps.length; s++) {
    const {num, mean, deviation, min, max, bad} = statsOf(series, s);
    rows.push([series.steps[s]!, series.walls[s]!, num, mean, deviation, min, max, bad, ...series.percentiles.subarray(s * 9, s * 9 + 9)].map(exactValue));
  }
  return rows;
}

export function saveRows(name: string, rows: readonly (readonly string[])[]): void {
  saveFile(name, new Blob([rows.map((row) => row.join(',')).join('\n'), '\n'], {type: 'text/csv'}));
}
