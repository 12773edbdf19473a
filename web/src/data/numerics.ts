// Recordings of numerics (docs/api.md, "Numerics").
import type * as api from './api.ts';
import {client, type AskOptions} from './client.ts';

export interface NumericsDump {
  readonly name: string;
  readonly start: number;
  readonly framework: string;
  readonly version: string;
  readonly hosts: readonly string[];
  readonly rank: number;
}

/** What a recording says of a tensor; null where its mode does not tell. */
export interface TensorHealth {
  readonly bad: number; // 1: −∞, 2: +∞, 4: NaN, 8: one of them
  readonly dtype: number;
  readonly rank: number;
  readonly shape: readonly number[];
  readonly size: number | null;
  readonly neg_inf: number | null;
  readonly pos_inf: number | null;
  readonly nan: number | null;
  readonly negative: number | null;
  readonly zero: number | null;
  readonly positive: number | null;
  readonly numbers: Readonly<Record<string, number | string>> | null;
}

export interface ChainLink extends TensorHealth {
  readonly op: string;
  readonly type: string;
  readonly trace: number;
  readonly execution: number;
  readonly path: string;
  readonly line: number;
}

export interface NumericsSummary {
  readonly sentence: string;
  readonly advice: string;
  readonly fault: {
    readonly step: number;
    readonly has_steps: boolean;
    readonly rank: number;
    readonly followers: number;
    readonly at: number;
    readonly chain: readonly ChainLink[];
  } | null;
  readonly traces: number;
  readonly executions: number;
  readonly bad_traces: number;
  readonly bad_executions: number;
  readonly has_steps: boolean;
  readonly damage: readonly {readonly file: string; readonly offset: number; readonly text: string}[];
}

export interface TraceRow extends TensorHealth {
  readonly index: number;
  readonly op: string;
  readonly type: string;
  readonly graph: string;
  readonly slot: number;
  readonly step: number;
  readonly wall: number;
  readonly mode: string;
  readonly device: string;
}

export interface ExecutionRow {
  readonly index: number;
  readonly type: string;
  readonly step: number;
  readonly wall: number;
  readonly mode: string;
  readonly bad: number;
  readonly graph: string;
  readonly inputs: number;
  readonly outputs: readonly TensorHealth[];
}

export interface Rows<T> {
  readonly total: number;
  readonly from: number;
  readonly rows: readonly T[];
}

/** Tensors over steps of one recording; empty lists where it has no such tensor. */
export interface HealthStrip {
  readonly rms: readonly (number | null)[];
  readonly zeros: readonly (number | null)[];
  readonly wrong: readonly (number | null)[];
  readonly saturated: readonly (number | null)[];
  readonly bad: readonly (number | null)[];
}

export interface HealthRow extends HealthStrip {
  readonly op: string;
  readonly type: string;
  readonly graph: string;
  readonly slot: number;
  readonly host: number;
  readonly first_bad: number;
  readonly beside?: readonly HealthStrip[];
}

export const ALERT_KINDS = ['bad', 'spike', 'explosion', 'dead', 'vanishing', 'saturation'] as const;

export interface AlertRow {
  readonly kind: (typeof ALERT_KINDS)[number];
  readonly text: string;
  readonly trace: number;
  readonly step: number;
  readonly op: string;
  readonly type: string;
  readonly graph: string;
  readonly slot: number;
}

export interface NumericsAlerts extends Rows<AlertRow> {
  readonly counts: Readonly<Partial<Record<AlertRow['kind'], number>>>;
}

export interface Divergence {
  readonly step: number;
  readonly what: string;
  readonly first: ChainLink;
  readonly second: ChainLink;
}

export interface NumericsComparison extends Rows<Divergence> {
  readonly sentence: string;
  readonly compared: number;
  readonly only_first: number;
  readonly only_second: number;
}

export interface HealthMap {
  readonly total: number;
  readonly from: number;
  readonly steps: readonly number[];
  readonly rows: readonly HealthRow[];
}

export type StackFrame = api.StackFrame;

export type OpNeighbour = api.OpNeighbour;

export type OpInfo = api.OpInfo;

const get = <T>(
  path: string,
  query: Record<string, string | number | readonly string[]>,
  options?: AskOptions,
): Promise<T> => client().get<T>(`numerics${path}`, query, options);

export const numericsDumps = async (): Promise<readonly NumericsDump[]> =>
  (await get<{dumps: readonly NumericsDump[]}>('', {})).dumps;
export const numericsSummary = (dump: string): Promise<NumericsSummary> => get('/summary', {dump});
/** `step` below 0: of all steps. */
export const numericsTraces = (
  dump: string,
  from: number,
  count: number,
  onlyBad: boolean,
  step = -1,
): Promise<Rows<TraceRow>> =>
  get('/traces', {dump, from, count, ...(onlyBad ? {only: 'bad'} : {}), ...(step >= 0 ? {step} : {})});
export const numericsAlerts = (dump: string, from: number, count: number, kind: string): Promise<NumericsAlerts> =>
  get('/alerts', {dump, from, count, ...(kind === '' ? {} : {kind})});
export const numericsCompare = (dump: string, other: string): Promise<NumericsComparison> =>
  get('/compare', {dump, other});
export const numericsExecutions = (dump: string, from: number, count: number): Promise<Rows<ExecutionRow>> =>
  get('/executions', {dump, from, count});
export const numericsMap = (
  dump: string,
  from: number,
  count: number,
  order: string,
  beside: readonly string[] = [],
): Promise<HealthMap> => get('/map', {dump, from, count, order, beside});
export const numericsOp = (dump: string, graph: string, op: string): Promise<OpInfo> => get('/op', {dump, graph, op});
export const numericsStack = async (dump: string, execution: number): Promise<readonly StackFrame[]> =>
  (await get<{frames: readonly StackFrame[]}>('/stack', {dump, execution})).frames;
export const numericsSource = (dump: string, index: number): Promise<{path: string; lines: readonly string[]}> =>
  get('/source', {dump, index});
