// Trials of a log directory: what columns there are, their values, which hyperparameters matter.
import {client, numberOf, type AskOptions} from './client.ts';
import type {Cell} from './types.ts';

export interface HparamColumn {
  readonly id: string; // "name", "status", "hparam:lr", "metric:val/acc:last"
  readonly type: string; // string, number, integer, bool, time
  readonly source?: string; // summary, config, name, metric, run
  readonly differs?: boolean;
  readonly declared?: number; // its place in the writer's own list
  readonly title?: string; // the display name declared with it, "" without one
  readonly description?: string;
}

export interface HparamTable {
  readonly rev: number;
  readonly total: number;
  readonly columns: readonly HparamColumn[];
  readonly data: readonly (readonly Cell[])[];
  readonly ids: readonly (readonly number[])[]; // runs of each row, the first its main one
}

/** Which rows: sessions, or groups of repeated ones with one value a metric. */
export interface HparamRows {
  readonly rows: 'groups' | 'sessions';
  readonly aggregate: 'avg' | 'median' | 'min' | 'max';
}

/** The description of every column, without values. */
export async function describeTrials(which: HparamRows, options: AskOptions = {}): Promise<HparamTable> {
  return client().ask<HparamTable>('hparams/table', {...which, offset: 0, limit: 0}, options);
}

/** All rows of the given columns, in the order of the server. */
export async function loadTrials(
  which: HparamRows,
  columns: readonly string[],
  options: AskOptions = {},
): Promise<HparamTable> {
  return client().ask<HparamTable>('hparams/table', {...which, columns, offset: 0, limit: 1_000_000}, options);
}

export interface Importance {
  readonly col: string;
  readonly value: number;
  readonly lo: number; // 95 % interval
  readonly hi: number;
  readonly n: number; // trials with a value
}

export type Method = 'permutation' | 'spearman';

/** `runs`: the main run of each row that counts; null = all rows. */
export async function loadImportance(
  metric: string,
  method: Method,
  which: HparamRows,
  runs: readonly number[] | null,
  options: AskOptions = {},
): Promise<{readonly n: number; readonly columns: readonly Importance[]}> {
  const answer = await client().ask<{n: number; columns: {col: string; value: Cell; lo: Cell; hi: Cell; n: number}[]}>(
    'hparams/importance',
    {...which, metric, method, ...(runs === null ? {} : {runs})},
    options,
  );
  return {
    n: answer.n,
    columns: answer.columns.map(one => ({
      col: one.col,
      n: one.n,
      value: numberOf(one.value),
      lo: numberOf(one.lo),
      hi: numberOf(one.hi),
    })),
  };
}
