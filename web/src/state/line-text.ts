// What a chart says about itself in words: the small state in its head, the sentence for a screen reader.
import type {ChartSeries} from '../draw/chart-model.ts';
import {formatCount, formatStep, formatValue} from '../text/format.ts';
import {t} from '../text/messages.ts';
import {FEWEST_SMOOTHED, type LineSettings} from '../data/chart-series.ts';
import type {Smoothing} from '../data/types.ts';

export function xTitleOf(x: string): string {
  return x.startsWith('tag:') ? x.slice(4) : t(`ts.x.${x}`);
}

const BANDS: Readonly<Record<string, string>> = {
  std: '± σ',
  se: '± SE',
  minmax: 'min … max',
  'q:0.05,0.95': '5 … 95 %',
  'q:0.25,0.75': '25 … 75 %',
  boot95: '95 % bootstrap',
  none: '',
};

export function stateOf(settings: LineSettings, grouped: boolean, list: readonly ChartSeries[] = []): string {
  const parts: string[] = [];
  if (grouped) parts.push(`${settings.centre} ${BANDS[settings.band] ?? settings.band}`.trim() + behind(list));
  if (settings.yscale !== 'linear') parts.push(settings.yscale);
  if (settings.xscale !== 'linear') parts.push(`x ${settings.xscale}`);
  const smooth = smoothingText(settings.smooth);
  const few = list.length > 0 && list.every(one => one.run >= 0 && one.total < FEWEST_SMOOTHED);
  if (smooth !== '' && !few) parts.push(smooth);
  if (settings.x !== 'step') parts.push(`x = ${xTitleOf(settings.x)}`);
  return parts.join(' · ');
}

/** " · n 3" or " · n 2…3": how many runs stand behind the lines of the groups. */
function behind(list: readonly ChartSeries[]): string {
  let [least, most] = [Infinity, 0];
  for (const {members} of list)
    for (let i = 0; i < (members?.length ?? 0); i++)
      [least, most] = [Math.min(least, members![i]!), Math.max(most, members![i]!)];
  if (most === 0) return '';
  return ` · n ${least === most ? most : `${least}…${most}`}`;
}

/** How many points share a place, for the title of the state. */
export function stateTitle(list: readonly ChartSeries[]): string {
  let [points, places] = [0, 0];
  for (const series of list) {
    if (series.exact) continue;
    points += series.total;
    places += series.x.length;
  }
  return places === 0 ? t('ts.every_point') : t('ts.per_pixel', {n: formatCount(Math.max(1, points / places))});
}

export function describe(title: string, xTitle: string, list: readonly ChartSeries[]): string {
  let [least, name, x0, x1] = [Infinity, '', Infinity, -Infinity];
  let broken = 0;
  for (const series of list) {
    let bad = false;
    for (let i = 0; i < series.y.length; i++) {
      const v = series.y[i]!;
      if (v < least) [least, name] = [v, series.label];
      if (Number.isNaN((series.raw ?? series.y)[i]!)) bad = true;
    }
    if (bad) broken++;
    const n = series.x.length;
    if (n > 0) [x0, x1] = [Math.min(x0, series.x[0]!), Math.max(x1, series.x[n - 1]!)];
  }
  const parts = [t('ts.describe', {tag: title, n: list.length, x: xTitle, from: formatStep(x0), to: formatStep(x1)})];
  if (Number.isFinite(least)) parts.push(t('ts.describe_least', {value: formatValue(least), run: name}));
  if (broken > 0) parts.push(t('ts.describe_nan', {n: broken}));
  return `${parts.join('; ')}.`;
}

export function smoothingText(smooth: Smoothing): string {
  if (smooth.kind === 'none' || (smooth.kind === 'ema' && smooth.p === 0)) return '';
  return `${{ema: 'EMA', mean: 'mean', gauss: 'Gauss', none: ''}[smooth.kind]} ${smooth.p}`;
}
