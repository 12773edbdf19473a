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

/** Metrics, the likeliest objective first. */
export function rankMetrics(all: readonly HparamColumn[]): string[] {
  const ids = all.filter(one => one.id.startsWith('metric:')).map(one => one.id);
  return ids
    .map(id => ({id, rate: rate(metricOf(id).tag)}))
    .sort((a, b) => b.rate - a.rate || (a.id < b.id ? -1 : 1))
    .map(one => one.id);
}

/** Up to eight hyper-parameters that differ (or five that do not) and up to three metrics, the objective last. */
export function autoColumns(all: readonly HparamColumn[]): string[] {
  const params = all.filter(one => one.id.startsWith('hparam:'));
  const differing = params.filter(one => one.differs === true);
  const chosen = (differing.length > 0 ? differing.slice(0, 8) : params.slice(0, 5)).map(one => one.id);
  return [...chosen, ...rankMetrics(all).slice(0, 3).reverse()];
}
