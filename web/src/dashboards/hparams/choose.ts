// What to show when nobody has chosen: the columns that differ, the metric that people compare.
import type {HparamColumn} from '../../data/hparams.ts';
import {metricOf} from './model.ts';

/** Names that are better when small. */
export function isLowerBetter(metric: string): boolean {
  return /loss|err|cost|perplexity|ppl|(^|[^a-z])(mae|mse|rmse|nll|wer|cer|fid|time|latency)/i.test(
    metricOf(metric).tag,
  );
}

function rate(tag: string): number {
  const lower = tag.toLowerCase();
  const what = /acc|f1|auc|bleu|reward|score|map/.test(lower) ? 6 : /loss|err/.test(lower) ? 4 : 0;
  const held = /(^|[/_.-])(val|valid|validation|eval|test|hparam)/.test(lower) ? 3 : 0;
  return what + held - (/^epoch$|lr|learning_rate|step|time/.test(lower) ? 4 : 0) - tag.length * 0.01;
}

const isMetric = (one: HparamColumn): boolean => one.id.startsWith('metric:');
/** What the writer declared, in the writer's order. */
const declaredOf = (all: readonly HparamColumn[]): HparamColumn[] =>
  all.filter(one => one.declared !== undefined).sort((a, b) => a.declared! - b.declared!);

/** Metrics, the likeliest objective first: the first one that was declared, else a guess by names. */
export function rankMetrics(all: readonly HparamColumn[]): string[] {
  const declared = declaredOf(all).filter(isMetric);
  const rest = all.filter(one => one.declared === undefined);
  return [...declared.map(one => one.id), ...guessed(rest)];
}

function guessed(all: readonly HparamColumn[]): string[] {
  const ids = all.filter(one => one.id.startsWith('metric:')).map(one => one.id);
  return ids
    .map(id => ({id, rate: rate(metricOf(id).tag)}))
    .sort((a, b) => b.rate - a.rate || (a.id < b.id ? -1 : 1))
    .map(one => one.id);
}

const MOST_DECLARED = 16;

/** What the writer declared; without that, up to eight hyperparameters that differ (or five that do not) and up to three
 *  metrics, the objective last. */
export function autoColumns(all: readonly HparamColumn[]): string[] {
  const declared = declaredOf(all);
  const metrics = declared.some(isMetric)
    ? declared.filter(isMetric).slice(0, MOST_DECLARED)
    : rankMetrics(all)
        .slice(0, 3)
        .reverse()
        .map(id => ({id}));
  const named = declared.filter(one => !isMetric(one)).slice(0, MOST_DECLARED);
  // A writer that declares run by run (PyTorch's does) leaves out what only later runs have.
  const rest = all.filter(one => one.declared === undefined && (named.length === 0 || one.differs === true));
  return [...named.map(one => one.id), ...guessedParams(rest), ...metrics.map(one => one.id)];
}

function guessedParams(all: readonly HparamColumn[]): string[] {
  const params = all.filter(one => one.id.startsWith('hparam:'));
  const differing = params.filter(one => one.differs === true);
  return (differing.length > 0 ? differing.slice(0, 8) : params.slice(0, 5)).map(one => one.id);
}
