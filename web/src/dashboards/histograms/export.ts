// Histograms as CSV: bins, or one line of statistics a step. A picture draws some of many steps, a file holds them all.
import {loadEvery} from '../../data/histograms.ts';
import {statsOf, type HistogramSeries} from '../../draw/histogram.ts';
import {saveFile} from '../../parts/clipboard.ts';
import {toast} from '../../state/toast.svelte.ts';
import {exactValue} from '../../text/format.ts';
import {t} from '../../text/messages.ts';
import {BINS} from '../../state/histogram-series.svelte.ts';

const BIN_HEAD = ['step', 'wall_time', 'left', 'right', 'count'];
const STAT_HEAD = [
  'step',
  'wall_time',
  'count',
  'mean',
  'deviation',
  'min',
  'max',
  'non_finite',
  'p0',
  'p6.68',
  'p15.87',
  'p30.85',
  'p50',
  'p69.15',
  'p84.13',
  'p93.32',
  'p100',
];

function binRows(series: HistogramSeries): string[][] {
  const bins = series.edges.length - 1;
  const rows: string[][] = [];
  for (let s = 0; s < series.steps.length; s++) {
    for (let b = 0; b < bins; b++) {
      rows.push(
        [series.steps[s]!, series.walls[s]!, series.edges[b]!, series.edges[b + 1]!, series.counts[s * bins + b]!].map(
          exactValue,
        ),
      );
    }
  }
  return rows;
}

function statRows(series: HistogramSeries): string[][] {
  const rows: string[][] = [];
  for (let s = 0; s < series.steps.length; s++) {
    const {num, mean, deviation, min, max, bad} = statsOf(series, s);
    rows.push(
      [
        series.steps[s]!,
        series.walls[s]!,
        num,
        mean,
        deviation,
        min,
        max,
        bad,
        ...series.percentiles.subarray(s * 9, s * 9 + 9),
      ].map(exactValue),
    );
  }
  return rows;
}

/** Asks for every step of a series and saves it as CSV. */
export async function saveSeries(run: string, tag: string, what: 'bins' | 'statistics'): Promise<void> {
  try {
    const all = await loadEvery({run, tag, bins: what === 'bins' ? BINS : 1});
    const steps = all.reduce((sum, one) => sum + one.steps.length, 0);
    const rows = [what === 'bins' ? BIN_HEAD : STAT_HEAD, ...all.flatMap(what === 'bins' ? binRows : statRows)];
    saveFile(
      `${tag.replaceAll('/', '_')}_${steps}_${what}.csv`,
      new Blob([rows.map(row => row.join(',')).join('\n'), '\n'], {type: 'text/csv'}),
    );
  } catch (problem) {
    toast(t('histograms.not_saved', {why: problem instanceof Error ? problem.message : String(problem)}));
  }
}
