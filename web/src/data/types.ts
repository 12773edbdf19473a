// The answers of /api/v1 as the page uses them (docs/api.md is the contract). Fields the page does not
// read are left out; unknown fields are ignored everywhere.

export interface Info {
  readonly version: string;
  readonly boot: string;
  readonly rev: number;
  readonly logdir: string;
  readonly title?: string;
  readonly sidecar?: {readonly path: string; readonly writable: boolean};
  readonly limits?: {readonly cells?: number; readonly upload_bytes?: number};
}

export interface Run {
  readonly id: number;
  readonly name: string;
  readonly start: number | null;
  readonly last: number | null;
  readonly state: 'live' | 'idle';
  readonly points: number;
  readonly bytes: number;
  readonly segments: number;
  readonly damage: number;
  readonly slot: number;
  readonly kinds: readonly string[];
}

export interface RunsAnswer {
  readonly boot: string;
  readonly rev: number;
  readonly runs: readonly Run[];
  readonly removed?: readonly number[];
  readonly partial?: Partial;
}

export interface Partial {
  readonly bytes_done: number;
  readonly bytes: number;
}

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

export interface TableColumn {
  readonly id: string;
  readonly type: string;
  readonly unit?: string;
}

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
  readonly series: readonly {readonly tag: string; readonly runs: 'all' | readonly number[]}[];
  readonly group: null | {
    readonly sets: readonly {readonly key: string; readonly runs: readonly number[]}[];
    readonly centre: 'mean' | 'median';
    readonly band: string;
  };
}

export interface Damage {
  readonly offset: number;
  readonly length: number;
  readonly kind: string;
  readonly severity: string;
  readonly lost?: string;
  readonly text: string;
  readonly advice?: string;
}

export interface DiagnosisFile {
  readonly path: string;
  readonly run: string | null;
  readonly kind: string;
  readonly bytes: number;
  readonly read: number;
  readonly records: number;
  readonly points?: number;
  readonly state: string;
  readonly damage: readonly Damage[];
}

export interface Diagnosis {
  readonly roots: readonly string[];
  readonly scanned: {readonly folders: number; readonly files: number; readonly bytes: number; readonly ms: number};
  readonly files: readonly DiagnosisFile[];
  readonly total?: number;
  readonly skipped: readonly {readonly path: string; readonly reason: string}[];
  /** What is no event file: captures, embeddings, debugger dumps. */
  readonly also?: readonly {
    readonly kind: string;
    readonly path: string;
    readonly files: number;
    readonly bytes: number;
  }[];
  readonly hints: readonly {readonly text: string; readonly fix?: string}[];
  readonly memory?: {readonly used: number; readonly budget: number};
  readonly watch?: string;
}

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
