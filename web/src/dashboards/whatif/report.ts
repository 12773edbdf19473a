// What the page Performance & fairness shows, as a text to keep or to send: Markdown, every figure with its interval.
import type {Performance, Slice, WorstSlice} from '../../data/whatif.ts';
import {formatCount, formatPercent, formatValue} from '../../text/format.ts';
import {t} from '../../text/messages.ts';
import {figuresAt, figuresTogether, gapsOf, wilson} from './thresholds.ts';

export interface ReportInput {
  readonly set: string;
  readonly model: string;
  readonly label: string;
  readonly link: string;
  readonly found: Performance;
  readonly worst: readonly WorstSlice[];
  readonly thresholds: readonly number[]; // k of each slice, or of all examples
  readonly cost: number;
}

/** A cell cannot end its row, begin a link or hold markup. */
const cell = (text: string): string => text.replace(/[\\|[\]<>`*_]/g, '\\$&').replace(/\s+/g, ' ');
const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map(row => `| ${row.join(' | ')} |`).join('\n');
const number = (v: number | null | undefined): string => (v == null || Number.isNaN(v) ? '–' : formatValue(v));
const percent = (v: number | null | undefined): string => (v == null || Number.isNaN(v) ? '–' : formatPercent(v));
const between = (
  low: number | null | undefined,
  high: number | null | undefined,
  say: (v: number) => string,
): string => (low == null || high == null ? '–' : `${say(low)} – ${say(high)}`);

function slicesTable(input: ReportInput, slices: readonly Slice[]): string {
  const {found, thresholds, cost} = input;
  if (found.task === 'binary')
    return table(
      ['slice', 'count', 'threshold', 'fp', 'fn', 'accuracy', 'interval', 'recall', 'f1'].map(key =>
        t(`whatif.${key}`),
      ),
      slices.map((slice, i) => {
        const k = thresholds[i] ?? 50;
        const f = figuresAt(slice.sweep!, k, cost);
        const [low, high] = wilson(f.tp + f.tn, f.total) ?? [null, null];
        return [
          cell(slice.name),
          formatCount(slice.count),
          (k / 100).toFixed(2),
          percent(f.fp / f.total),
          percent(f.fn / f.total),
          percent(f.accuracy),
          between(low, high, formatPercent),
          percent(f.recall),
          f.f1.toFixed(2),
        ];
      }),
    );
  if (found.task === 'multiclass')
    return table(
      ['slice', 'count', 'accuracy', 'interval', 'macro_f1'].map(key => t(`whatif.${key}`)),
      slices.map(one => [
        cell(one.name),
        formatCount(one.count),
        percent(one.accuracy?.[0]),
        between(one.accuracy?.[1], one.accuracy?.[2], formatPercent),
        number(one.macro_f1),
      ]),
    );
  return table(
    [...['slice', 'count', 'mean_error', 'mae', 'interval', 'mse'].map(key => t(`whatif.${key}`)), 'R²'],
    slices.map(one => [
      cell(one.name),
      formatCount(one.count),
      number(one.mean_error),
      number(one.mean_absolute?.[0]),
      between(one.mean_absolute?.[1], one.mean_absolute?.[2], formatValue),
      number(one.mean_squared),
      number(one.r2),
    ]),
  );
}

function strategiesTable({found, thresholds, cost}: ReportInput): string {
  const parts = found.slices.map((slice, i) => [slice.sweep!, thresholds[i] ?? 50] as const);
  const mine = figuresTogether(parts, cost);
  const rows = [
    {name: 'custom', thresholds, cost: mine.cost, accuracy: mine.accuracy, gaps: gapsOf(parts)},
    ...(found.strategies ?? []),
  ];
  return table(
    [
      ...['strategy', 'thresholds', 'cost_sum', 'accuracy'].map(key => t(`whatif.${key}`)),
      ...['positive_rate', 'recall', 'fpr', 'accuracy'].map(key => t(`whatif.gap.${key}`)),
    ],
    rows.map(one => [
      t(`whatif.strategy.${one.name}`),
      one.thresholds.map(k => (k / 100).toFixed(2)).join(' · '),
      number(one.cost),
      percent(one.accuracy),
      percent(one.gaps.positive_rate),
      percent(one.gaps.recall),
      percent(one.gaps.false_positive_rate),
      percent(one.gaps.accuracy),
    ]),
  );
}

export function reportOf(input: ReportInput): string {
  const {found, worst} = input;
  const {all} = found;
  const sliced = found.features.length > 0;
  const say = found.task === 'regression' ? number : percent;
  const parts = [
    `# ${cell(input.set)}: ${cell(input.model)}`,
    t('whatif.report_lead', {n: formatCount(all.count), label: cell(input.label)}) + `\n<${encodeURI(input.link)}>`,
  ];
  if (found.task === 'binary')
    parts.push(
      t('whatif.auc', {
        auc: number(all.auc?.[0]),
        low: number(all.auc?.[1]),
        high: number(all.auc?.[2]),
        ap: number(all.average_precision),
        brier: number(all.brier),
        ece: number(all.calibration_error),
      }),
    );
  parts.push(`## ${t(sliced ? 'whatif.slices' : 'whatif.all_examples')}`);
  parts.push(slicesTable(input, sliced ? found.slices : [{...all, name: t('whatif.all_examples')}]));
  if (sliced && found.task === 'binary' && found.slices.every(slice => slice.sweep !== undefined))
    parts.push(`## ${t('whatif.strategies')}`, strategiesTable(input), t('whatif.gap_note'));
  if (worst.length > 0)
    parts.push(
      `## ${t('whatif.worst')}`,
      table(
        ['slice', 'count', found.task === 'regression' ? 'mae' : 'error_rate', 'interval', 'everybody_else'].map(key =>
          t(`whatif.${key}`),
        ),
        worst.map(one => [
          cell(one.conditions.map(([feature, value]) => `${feature} = ${value}`).join(', ')),
          formatCount(one.support),
          say(one.loss[0]),
          between(one.loss[1], one.loss[2], say),
          say(one.rest),
        ]),
      ),
    );
  return parts.join('\n\n') + '\n';
}
