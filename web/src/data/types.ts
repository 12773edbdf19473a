// The answers of /api/v1 as the page uses them (docs/api.md is the contract). Fields the page does not
// read are left out; unknown fields are ignored everywhere.
import type * as api from './api.ts';

export type Info = api.Info;

export type Run = api.Run;

export type RunsAnswer = api.Runs;

export type Partial = api.LoadedShare;

export interface Tag {
  readonly id: number;
  readonly name: string;
  readonly kind: string;
  readonly plugin: string;
  readonly title?: string; // display name, "" when none
  readonly runs: readonly (readonly [number, number])[];
  readonly steps: readonly [number, number];
  readonly samples?: number;
  readonly description_html?: string;
}

export interface TagsAnswer {
  readonly rev: number;
  readonly tags: readonly Tag[];
}

export type TableColumn = api.TableColumn;

export interface TableAnswer {
  readonly total: number;
  readonly columns: readonly TableColumn[];
  readonly data: readonly (readonly Cell[])[];
  readonly ids: readonly number[];
}

export type Cell = string | number | boolean | null;

export type Smoothing = {readonly kind: 'none' | 'ema' | 'mean' | 'gauss'; readonly p: number};
export type Scale = 'linear' | 'log' | 'symlog';

export interface ColumnsQuestion {
  readonly x: string;
  readonly xscale: Scale;
  readonly range: readonly [number, number] | null;
  readonly px: number;
  readonly agg: readonly string[];
  readonly smooth: Smoothing;
  readonly restarts: 'newest' | 'all';
  /** A tag, or an expression over tags. */
  readonly series: readonly ({readonly runs: 'all' | readonly number[]} & (
    {readonly tag: string} | {readonly expr: string}
  ))[];
  readonly group: null | {
    readonly sets: readonly {readonly key: string; readonly runs: readonly number[]}[];
    readonly centre: 'mean' | 'median';
    readonly band: string;
  };
}

export type Damage = api.Damage;

export type DiagnosisFile = api.DiagnosisFile;

export type Diagnosis = api.Diagnosis;

export interface RunNotes {
  alias?: string;
  colour?: string;
  hidden?: boolean;
  tags?: string[];
  note?: string;
}

/** What people wrote about a profiler session. */
export interface SessionNotes {
  name?: string;
  note?: string; // Markdown
  pins?: readonly {
    readonly text: string;
    readonly tool?: string;
    readonly filter?: string;
    readonly t0?: number;
    readonly t1?: number;
  }[];
}

export interface Sidecar {
  sonde?: number;
  runs?: Record<string, RunNotes>;
  views?: Record<string, {name: string; state: string}>;
  sessions?: Record<string, SessionNotes>;
  annotations?: {tag?: string; run?: string; x: number; text: string}[];
  settings?: Record<string, unknown>;
  [key: string]: unknown;
}

export interface ChangedEvent {
  readonly rev: number;
  readonly series?: readonly (readonly [number, number, number, number])[];
  readonly runs?: readonly number[];
  readonly all?: boolean;
}

export interface LoadEvent {
  readonly files: number;
  readonly files_done: number;
  readonly bytes: number;
  readonly bytes_done: number;
  readonly points: number;
  readonly eta_s: number | null;
}
