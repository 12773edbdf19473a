// Sets of examples, what models say about them, for whom they fail (docs/api.md, What-If).
import type * as api from './api.ts';
import {client, type AskOptions} from './client.ts';

export type Task = 'regression' | 'binary' | 'multiclass';
export type ColumnKind = 'numeric' | 'categorical' | 'text' | 'image';

export interface SetEntry {
  readonly id: string;
  readonly name: string;
  readonly run: string;
  readonly path: string;
  readonly problem?: string;
}
export type SetList = api.SetList;
export type SetColumn = api.ExampleSet['columns'][number];
export type SetModel = api.SetModel;
export type ExampleSet = api.ExampleSet;
/** One column of values: numbers, or codes of words. */
export interface Values {
  readonly name: string;
  readonly kind: ColumnKind;
  readonly words: readonly string[];
  readonly numbers: Float64Array | null;
  readonly codes: Uint32Array | null;
}
export type Cell = number | string | boolean | null | readonly (number | string | null)[] | {readonly bytes: number};
export interface ExampleRow {
  readonly i: number;
  readonly values: readonly Cell[];
  readonly predictions: Readonly<Record<string, readonly number[]>>;
  readonly attributions?: Readonly<Record<string, Attributed>>; // by model
}
/** How much each feature moved the answer; of a list, each of its elements. */
export type Attributed = Readonly<Record<string, number | readonly number[]>>;
export interface Sweep {
  readonly tp: readonly number[];
  readonly fp: readonly number[];
  readonly tn: readonly number[];
  readonly fn: readonly number[];
}
export type Interval = readonly [number | null, number | null, number | null]; // value, low, high
export interface Slice {
  readonly name: string;
  readonly keys: readonly string[];
  readonly count: number;
  readonly sweep?: Sweep;
  readonly auc?: Interval;
  readonly average_precision?: number | null;
  readonly roc?: readonly (readonly [number, number, number | string])[];
  readonly pr?: readonly (readonly [number, number, number | string])[];
  readonly brier?: number | null;
  readonly calibration_error?: number | null;
  readonly calibration?: readonly {readonly score: number; readonly rate: Interval; readonly count: number}[];
  readonly compatible?: {readonly roc: number; readonly pr: number};
  readonly accuracy?: Interval;
  readonly macro_f1?: number | null;
  readonly top?: readonly number[];
  readonly confusion?: readonly number[];
  readonly one_vs_rest?: readonly Omit<Slice, 'keys' | 'count'>[];
  readonly labels?: readonly {
    readonly support: number;
    readonly precision: number;
    readonly recall: number;
    readonly f1: number;
  }[];
  readonly judged?: number;
  readonly mean_error?: number | null;
  readonly mean_absolute?: Interval;
  readonly mean_squared?: number | null;
  readonly median_absolute?: number | null;
  readonly r2?: number | null;
}
export interface StrategyResult {
  readonly name: string;
  readonly thresholds: readonly number[];
  readonly cost: number;
  readonly gap: number;
  readonly accuracy: number;
  readonly gaps: {
    readonly positive_rate: number;
    readonly recall: number;
    readonly false_positive_rate: number;
    readonly accuracy: number;
  };
  readonly undefined: readonly number[];
}
export interface Performance {
  readonly task: Task;
  readonly label: string;
  readonly label_names: readonly string[];
  readonly features: readonly string[];
  readonly all: Slice;
  readonly slices: readonly Slice[];
  readonly strategies?: readonly StrategyResult[];
  readonly attributions?: readonly {
    readonly feature: string;
    readonly all: number | null;
    readonly slices: readonly (number | null)[];
  }[];
}
export interface WorstSlice {
  readonly conditions: readonly (readonly [string, string])[];
  readonly support: number;
  readonly loss: Interval;
  readonly rest: number;
  readonly excess: number;
}
export interface Nearest {
  readonly row: number;
  readonly nearest: readonly {readonly row: number; readonly distance: number}[];
  readonly counterfactual?: {readonly row: number; readonly distance: number} | null;
  readonly delta?: number;
}
export interface Dependence {
  readonly examples: number;
  readonly features: readonly {
    readonly name: string;
    readonly element: number;
    readonly numeric: boolean;
    readonly interest: number;
    readonly values: readonly (number | string)[];
    readonly labels: readonly string[];
    readonly means: readonly (readonly number[])[];
    readonly single?: readonly (readonly number[])[];
  }[];
}
export interface PairMap {
  readonly examples: number;
  readonly x: {readonly name: string; readonly numeric: boolean; readonly values: readonly (number | string)[]};
  readonly y: {readonly name: string; readonly numeric: boolean; readonly values: readonly (number | string)[]};
  readonly labels: readonly string[];
  readonly means: readonly (readonly (readonly number[])[])[]; // by label, then y, then x
}
export interface Predicted {
  readonly model: string;
  readonly labels: readonly string[];
  readonly task: Task;
  readonly rows: readonly {
    readonly row: number;
    readonly scores: readonly number[];
    readonly attributions?: Attributed;
  }[];
}
/** A counterfactual made by changing a few features, each change verified by the model. */
export interface Generated {
  readonly found: boolean;
  readonly asked: number;
  readonly distance: number;
  readonly task: Task;
  readonly labels: readonly string[];
  readonly from: readonly number[];
  readonly to: readonly number[];
  readonly changes: readonly {readonly feature: string; readonly from: Cell; readonly to: Cell}[];
}
export interface FeatureStatistics {
  readonly name: string;
  readonly kind: ColumnKind;
  readonly count: number;
  readonly missing: number;
  readonly lengths?: readonly number[]; // of a column of lists
  readonly length_edges?: readonly number[];
  readonly non_uniformity: number;
  readonly mean?: number | string;
  readonly deviation?: number | string;
  readonly zeros?: number;
  readonly low?: number | string;
  readonly median?: number | string;
  readonly high?: number | string;
  readonly quantiles?: readonly number[];
  readonly edges?: readonly number[];
  readonly histogram?: readonly number[];
  readonly unique?: number;
  readonly mean_length?: number;
  readonly top?: readonly (readonly [string, number])[];
  readonly drift?: number | null;
  readonly other?: FeatureStatistics;
}
export interface Training {
  readonly model: string;
  readonly task: Task;
  readonly steps: readonly number[];
  readonly from: number;
  readonly to: number;
  readonly slices: readonly {readonly name: string; readonly count: number; readonly loss: readonly number[]}[];
  readonly fixed?: readonly number[];
  readonly fixed_count?: number;
  readonly broken?: readonly number[];
  readonly broken_count?: number;
  readonly never_learnt?: readonly number[];
  readonly never_learnt_count?: number;
  readonly confident_errors?: readonly number[];
  readonly confident_errors_count?: number;
}
export interface Edit {
  readonly row: number;
  readonly values: Readonly<Record<string, unknown>>;
}

const at = (set: string, what = ''): string => `whatif/${encodeURIComponent(set)}${what === '' ? '' : `/${what}`}`;
const search = (pairs: readonly (readonly [string, string])[]): string =>
  pairs.map(([k, v]) => `${k}=${encodeURIComponent(v)}`).join('&');

/** Edited sets are listed only for those who know them. */
export const setList = (edited: readonly string[]): Promise<SetList> =>
  client().get<SetList>(`whatif${edited.length === 0 ? '' : `?${search(edited.map(id => ['with', id] as const))}`}`);
export const setOf = (id: string, options?: AskOptions): Promise<ExampleSet> =>
  client().get<ExampleSet>(at(id), {}, options);
export async function columnsOf(
  id: string,
  names: readonly string[],
  more: Readonly<Record<string, string>>,
  options?: AskOptions,
): Promise<readonly Values[]> {
  const query = search([...names.map(n => ['name', n] as const), ...Object.entries(more)]);
  const file = await client().getColumns(`${at(id, 'columns')}?${query}`, {}, options);
  const heads = file.head['columns'] as readonly {name: string; kind: ColumnKind; words: string[]}[];
  return heads.map((head, i) => {
    const data = file.col(`c${i}`);
    return {
      ...head,
      numbers: data instanceof Float64Array ? data : null,
      codes: data instanceof Uint32Array ? data : null,
    };
  });
}
export async function rowsOf(id: string, rows: readonly number[]): Promise<readonly ExampleRow[]> {
  const query = search(rows.map(r => ['i', String(r)] as const));
  const found = await client().get<{rows: readonly ExampleRow[]}>(`${at(id, 'rows')}?${query}`);
  // What a model has not said is the text "NaN".
  const numbers = (scores: readonly number[]): number[] => scores.map(Number);
  return found.rows.map(one => ({
    ...one,
    predictions: Object.fromEntries(Object.entries(one.predictions).map(([name, s]) => [name, numbers(s)])),
  }));
}
export const imageSource = (id: string, column: string, i: number): Promise<string> =>
  client().source(at(id, 'image'), {column, i});
export const spriteSource = (id: string, column: string, rows: readonly number[]): Promise<string> =>
  client().source(`${at(id, 'sprite')}?${search([['column', column], ...rows.map(r => ['i', String(r)] as const)])}`);
export const performanceOf = (id: string, body: unknown, options?: AskOptions): Promise<Performance> =>
  client().ask<Performance>(at(id, 'performance'), body, options);
export const worstOf = (
  id: string,
  body: unknown,
  options?: AskOptions,
): Promise<{slices: readonly WorstSlice[]; task: Task}> => client().ask(at(id, 'worst'), body, options);
export const nearestOf = (id: string, body: unknown, options?: AskOptions): Promise<Nearest> =>
  client().ask<Nearest>(at(id, 'nearest'), body, options);
export const dependenceOf = async (id: string, body: unknown): Promise<Dependence> =>
  (await client().send<Dependence>('POST', at(id, 'dependence'), body)).value;
export const pairOf = async (id: string, body: unknown): Promise<PairMap> =>
  (await client().send<PairMap>('POST', at(id, 'pair'), body)).value;
export const predictEdits = async (id: string, model: string, edits: readonly Edit[]): Promise<Predicted> =>
  (await client().send<Predicted>('POST', at(id, 'predict'), {model, edits})).value;
export const askModel = (id: string, model: string): Promise<unknown> => client().send('POST', at(id, 'ask'), {model});
export const stopAsking = (id: string, model: string): Promise<unknown> =>
  client().send('POST', at(id, 'ask'), {model, stop: true});
export const counterfactualOf = async (id: string, body: unknown): Promise<Generated> =>
  (await client().send<Generated>('POST', at(id, 'counterfactual'), body)).value;
export const addModel = (id: string, body: unknown): Promise<unknown> => client().send('POST', at(id, 'models'), body);
export const trainingOf = (id: string, body: unknown, options?: AskOptions): Promise<Training> =>
  client().ask<Training>(at(id, 'training'), body, options);
export const featuresOf = async (id: string, other: string): Promise<readonly FeatureStatistics[]> =>
  (await client().get<{features: readonly FeatureStatistics[]}>(at(id, 'features'), other === '' ? {} : {with: other}))
    .features;
export const exportEdits = async (id: string, format: 'csv' | 'tfrecord', edits: readonly Edit[]): Promise<Blob> =>
  (
    await client().raw(at(id, 'export'), {
      method: 'POST',
      headers: {'Content-Type': 'application/json'},
      body: JSON.stringify({format, edits}),
    })
  ).blob();
/** A set of its own with some examples changed, copied or left out. */
export const editedSet = async (
  id: string,
  body: {
    readonly edits: readonly Edit[];
    readonly copies?: readonly number[];
    readonly removed?: readonly number[];
    readonly features?: readonly string[];
  },
): Promise<api.EditedSet> => (await client().send<api.EditedSet>('POST', at(id, 'edited'), body)).value;
export async function uploadExamples(file: File, label: string): Promise<string> {
  const answer = await client().raw(
    `whatif?${search([
      ['name', file.name],
      ['label', label],
    ])}`,
    {
      method: 'POST',
      headers: {'Sonde-Request': '1', 'Content-Type': 'application/octet-stream'},
      body: file,
    },
  );
  return ((await answer.json()) as {id: string}).id;
}
