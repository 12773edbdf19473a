// What a person types for the lines of a chart panel: tags, or expressions that the server reads.
import {expressionOf} from '../../data/chart-series.ts';
import {ApiError, client} from '../../data/client.ts';

/** "train/loss - val/loss" needs no "=" before it: a text with an operator or a function that is no tag is an expression. */
export function lineOf(text: string, isTag: (name: string) => boolean): string {
  const plain = text.trim();
  if (plain === '' || isTag(plain) || plain.startsWith('=')) return plain;
  return /[-+*/^()]/.test(plain) ? `=${plain}` : plain;
}

/** What is wrong with an expression; '' when nothing is. */
export async function expressionProblem(line: string): Promise<string> {
  const expr = expressionOf(line);
  if (expr === null) return '';
  try {
    await client().columns('columns', {px: 1, series: [{expr, runs: []}]});
    return '';
  } catch (problem) {
    return problem instanceof ApiError ? problem.message : String(problem);
  }
}
