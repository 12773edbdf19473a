// Made from docs/api/openapi.yaml by tools/api_schema.py: edit that, not this.

/** A number. What JSON cannot write is a text. */
export type Real = number | 'NaN' | 'Infinity' | '-Infinity';

/** A whole number. One beyond ±2^53 is a decimal text, and is accepted as such. */
export type Integer = number | string;

export interface ErrorAnswer {
  readonly error: {
    readonly code: 'invalid' | 'unauthorised' | 'forbidden' | 'not_found' | 'method' | 'conflict' | 'too_large' | 'unsupported' | 'busy' | 'internal';
    readonly text: string;
    readonly where?: string;
    readonly fix?: string;
  };
}

export type Cell = string | Real | boolean | null;

export interface LoadedShare {readonly bytes_done: number; readonly bytes: number}

export interface Info {
  readonly version: string;
  readonly api: number;
  readonly boot: string;
  readonly rev: number;
  readonly logdir: string;
  readonly title: string;
  readonly sidecar: {readonly path: string; readonly writable: boolean};
  readonly limits: {readonly cells: number; readonly body_bytes: number; readonly upload_bytes: number};
  readonly partial?: LoadedShare;
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
  readonly rev: number;
}

export interface Runs {
  readonly boot: string;
  readonly rev: number;
  readonly runs: readonly Run[];
  readonly removed: readonly number[];
  readonly partial?: LoadedShare;
}

export interface Tag {
  readonly id: number;
  readonly name: string;
  readonly kind: 'scalar' | 'histogram' | 'image' | 'audio' | 'text' | 'pr_curve' | 'mesh' | 'layout' | 'hparams' | 'graph' | 'tensor' | 'blob';
  readonly plugin: string;
  readonly title: string;
  readonly runs: readonly (readonly [number, number])[];
  readonly points: number;
  readonly steps: readonly [Integer, Integer] | null;
  readonly samples: number;
  readonly description_html: string;
  readonly rev: number;
}

export interface Tags {
  readonly boot: string;
  readonly rev: number;
  readonly tags: readonly Tag[];
  readonly partial?: LoadedShare;
}

export type Restarts = 'newest' | 'all';

export type RunRef = number | string;

export interface RowFilter {
  readonly col: string;
  readonly in?: readonly Cell[];
  readonly min?: Real;
  readonly max?: Real;
  readonly re?: string;
  readonly missing?: boolean;
  readonly or_missing?: boolean;
}

export type SortKey = readonly [string, 'asc' | 'desc'];

export interface TableQuery {
  readonly columns?: readonly string[];
  readonly filter?: readonly RowFilter[];
  readonly sort?: readonly SortKey[];
  readonly offset?: number;
  readonly limit?: number;
}

export interface TableColumn {
  readonly id: string;
  readonly type: 'string' | 'number' | 'integer' | 'bool' | 'time' | 'list';
  readonly unit?: string;
  readonly source?: string;
  readonly differs?: boolean;
  readonly domain?: {readonly values?: readonly Cell[]; readonly min?: Real; readonly max?: Real};
  readonly declared?: number;
  readonly title?: string;
  readonly description?: string;
}

export interface Table {
  readonly rev: number;
  readonly total: number;
  readonly columns: readonly TableColumn[];
  readonly data: readonly (readonly (Cell | readonly string[])[])[];
  readonly ids: readonly number[];
}

export type SeriesList = readonly {readonly tag?: string; readonly expr?: string; readonly runs?: readonly RunRef[] | 'all'}[];

export interface Smoothing {readonly kind: 'none' | 'ema' | 'mean' | 'gauss'; readonly p?: Real}

export interface ColumnsQuery {
  readonly series: SeriesList;
  readonly x?: string;
  readonly xscale?: 'linear' | 'log' | 'symlog';
  readonly range?: readonly [Real, Real] | null;
  readonly px?: number;
  readonly agg?: readonly ('min' | 'max' | 'last' | 'first' | 'mean' | 'count' | 'step' | 'wall')[];
  readonly smooth?: Smoothing;
  readonly restarts?: Restarts;
  readonly group?: {
    readonly sets: readonly {readonly key?: string; readonly runs: readonly RunRef[]}[];
    readonly centre?: 'mean' | 'median';
    readonly band?: string;
  } | null;
  readonly format?: 'columns' | 'arrow';
  readonly if?: string;
}

export interface ColumnsHead {
  readonly boot: string;
  readonly rev: number;
  readonly px: number;
  readonly x0: Real;
  readonly x1: Real;
  readonly w: Real;
  readonly xscale: 'linear' | 'log' | 'symlog';
  readonly series: {
    readonly run: readonly number[];
    readonly tag: readonly number[];
    readonly entry: readonly number[];
    readonly n: readonly number[];
    readonly total: readonly number[];
    readonly exact: readonly number[];
    readonly first: readonly Real[];
  };
  readonly x_rounded?: boolean;
  readonly sorted?: readonly number[];
  readonly cols?: ColumnPlaces;
}

export interface FirstColumns {readonly question: ColumnsQuery; readonly columns: string}

export interface NearestQuery {
  readonly series: SeriesList;
  readonly at: Real;
  readonly x?: string;
  readonly smooth?: Smoothing;
  readonly restarts?: Restarts;
}

export interface Nearest {
  readonly rev: number;
  readonly run: readonly number[];
  readonly tag: readonly number[];
  readonly entry: readonly number[];
  readonly x: readonly Real[];
  readonly step: readonly Integer[];
  readonly wall: readonly Real[];
  readonly value: readonly Real[];
  readonly smooth?: readonly Real[];
}

export interface OutsideQuery {
  readonly series: SeriesList;
  readonly low: Real;
  readonly high: Real;
  readonly x?: string;
  readonly range?: readonly [Real, Real] | null;
  readonly restarts?: Restarts;
}

export interface Outside {readonly rev: number; readonly below: number; readonly above: number}

export interface ExportQuery {readonly format?: 'csv' | 'jsonl'; readonly series?: SeriesList; readonly restarts?: Restarts}

export interface MediaSample {
  readonly ref: string;
  readonly mime: string;
  readonly bytes: number;
  readonly width?: number;
  readonly height?: number;
  readonly seconds?: number;
  readonly rate?: number;
  readonly channels?: number;
  readonly label?: string;
  readonly label_html?: string;
}

export interface MediaItem {
  readonly step: Integer;
  readonly wall: Real;
  readonly samples?: readonly MediaSample[];
  readonly damage?: string;
}

export interface Media {
  readonly rev: number;
  readonly total: number;
  readonly from?: number;
  readonly items?: readonly MediaItem[];
  readonly steps?: readonly Integer[];
  readonly walls?: readonly Real[];
}

export interface TextItem {
  readonly index: number;
  readonly step: Integer;
  readonly wall: Real;
  readonly shape?: readonly number[];
  readonly html?: string;
  readonly cells?: readonly string[];
  readonly damage?: string;
}

export interface Texts {
  readonly rev: number;
  readonly total: number;
  readonly from?: number;
  readonly items?: readonly TextItem[];
  readonly steps?: readonly Integer[];
  readonly walls?: readonly Real[];
}

export interface HistogramsQuery {
  readonly run: RunRef;
  readonly tag: string;
  readonly range?: readonly [Real, Real] | null;
  readonly steps?: number;
  readonly bins?: number | null;
  readonly restarts?: Restarts;
}

export interface PrCurve {
  readonly run: string;
  readonly id: number;
  readonly step: Integer;
  readonly wall: Real;
  readonly steps: readonly Integer[];
  readonly walls: readonly Real[];
  readonly thresholds: readonly Real[];
  readonly precision: readonly Real[];
  readonly recall: readonly Real[];
  readonly tp: readonly Real[];
  readonly fp: readonly Real[];
  readonly tn: readonly Real[];
  readonly fn: readonly Real[];
  readonly damage?: string;
}

export interface PrCurves {readonly rev: number; readonly tag: string; readonly runs: readonly PrCurve[]}

export interface MeshSteps {
  readonly rev: number;
  readonly total: number;
  readonly steps: readonly Integer[];
  readonly walls: readonly Real[];
  readonly samples: number;
  readonly config: unknown;
}

export interface LayoutChart {
  readonly title: string;
  readonly multiline?: {readonly tags: readonly string[]};
  readonly margin?: {
    readonly series: readonly {readonly value: string; readonly lower: string; readonly upper: string}[];
  };
}

export interface Layouts {
  readonly rev: number;
  readonly layouts: readonly {
    readonly source: 'run' | 'sidecar';
    readonly run?: string | null;
    readonly title: string;
    readonly closed: boolean;
    readonly charts: readonly LayoutChart[];
  }[];
}

export interface HparamsQuery {
  readonly columns?: readonly string[];
  readonly filter?: readonly RowFilter[];
  readonly sort?: readonly SortKey[];
  readonly offset?: number;
  readonly limit?: number;
  readonly rows?: 'groups' | 'sessions';
  readonly status?: readonly ('unknown' | 'success' | 'failure' | 'running')[];
  readonly aggregate?: 'avg' | 'median' | 'min' | 'max';
  readonly aggregate_metric?: string;
}

export interface HparamsTable {
  readonly rev: number;
  readonly total: number;
  readonly columns: readonly TableColumn[];
  readonly data: readonly (readonly (Cell | readonly string[])[])[];
  readonly ids: readonly (readonly number[])[];
}

export interface ImportanceQuery {
  readonly metric: string;
  readonly method?: 'permutation' | 'spearman';
  readonly rows?: 'groups' | 'sessions';
  readonly status?: readonly string[];
  readonly filter?: readonly RowFilter[];
  readonly runs?: readonly number[];
}

export interface Importance {
  readonly metric: string;
  readonly method: 'permutation' | 'spearman';
  readonly n: number;
  readonly columns: readonly {
    readonly col: string;
    readonly value: Real;
    readonly lo: Real;
    readonly hi: Real;
    readonly n: number;
  }[];
}

export interface TableList {
  readonly rev: number;
  readonly tables: readonly {readonly run: string; readonly name: string; readonly bytes: number}[];
}

export interface TableRowsQuery {
  readonly run: string;
  readonly table: string;
  readonly step?: Integer;
  readonly q?: string;
  readonly sort?: SortKey;
  readonly filter?: readonly {readonly col: string; readonly min?: Real; readonly max?: Real; readonly contains?: string}[];
  readonly offset?: number;
  readonly limit?: number;
}

export interface SampleRow {
  readonly row: number;
  readonly step: Integer;
  readonly time?: Real;
  readonly cells?: {readonly [key: string]: unknown};
  readonly cut?: readonly string[];
  readonly damage?: string;
}

export interface SampleRows {
  readonly run: string;
  readonly table: string;
  readonly total: number;
  readonly matched: number;
  readonly steps: readonly Integer[];
  readonly columns: readonly {
    readonly name: string;
    readonly kind: 'number' | 'text' | 'bool' | 'image' | 'audio' | 'video' | 'chat' | 'tokens' | 'json';
  }[];
  readonly rows: readonly SampleRow[];
}

export interface ConsoleList {
  readonly rev: number;
  readonly consoles: readonly {readonly run: string; readonly bytes: number}[];
}

export interface ConsoleLine {
  readonly line: number;
  readonly time?: Real;
  readonly stream?: 'stdout' | 'stderr';
  readonly rank?: number;
  readonly replaced?: boolean;
  readonly continues?: boolean;
  readonly text: string;
}

export interface ConsolePage {
  readonly run: string;
  readonly total: number;
  readonly bytes: number;
  readonly from: number;
  readonly next: number;
  readonly lines: readonly ConsoleLine[];
}

export interface RunAbout {
  readonly rev: number;
  readonly run: string;
  readonly about: unknown;
  readonly diff?: string;
  readonly problem?: string;
}

export interface FiredAlert {
  readonly rule: string;
  readonly run: string;
  readonly tag: string;
  readonly step: Integer;
  readonly wall: Real;
  readonly value?: Real;
  readonly text: string;
  readonly group?: string;
  readonly key: string;
  readonly state: 'open' | 'acknowledged' | 'silenced';
  readonly said?: boolean;
}

export interface AlertRule {
  readonly name: string;
  readonly when: string;
  readonly of_page: boolean;
  readonly settings: {readonly [key: string]: string};
}

export interface AlertList {
  readonly rev: number;
  readonly rules: readonly AlertRule[];
  readonly problem?: string;
  readonly alerts: readonly FiredAlert[];
}

export interface Damage {
  readonly offset: number;
  readonly length: number;
  readonly kind: string;
  readonly severity: 'note' | 'loss';
  readonly text: string;
  readonly advice: string;
}

export interface DiagnosisFile {
  readonly path: string;
  readonly run: string | null;
  readonly kind: string;
  readonly bytes: number;
  readonly read: number;
  readonly records: number;
  readonly damaged: number;
  readonly state: string;
  readonly damage: readonly Damage[];
}

export interface LoadState {
  readonly files: number;
  readonly files_done: number;
  readonly bytes: number;
  readonly bytes_done: number;
  readonly points: number;
  readonly loading: boolean;
  readonly eta_s?: number | null;
}

export interface Diagnosis {
  readonly rev: number;
  readonly roots: readonly string[];
  readonly scanned: {readonly folders: number; readonly files: number; readonly bytes: number; readonly ms: number};
  readonly total: number;
  readonly files: readonly DiagnosisFile[];
  readonly skipped: readonly {readonly path: string; readonly reason: string}[];
  readonly also: readonly {readonly kind: string; readonly path: string; readonly files: number; readonly bytes: number}[];
  readonly hints: readonly {readonly text: string; readonly fix?: string}[];
  readonly memory: {readonly used: number; readonly budget: number; readonly spilled: number};
  readonly watch: 'inotify' | 'poll' | 'off';
  readonly progress: LoadState;
}

export interface Revision {readonly rev: number}

export interface RunNotes {
  readonly alias?: string;
  readonly colour?: string;
  readonly hidden?: boolean;
  readonly tags?: readonly string[];
  readonly note?: string;
}

export interface SessionNotes {
  readonly name?: string;
  readonly note?: string;
  readonly pins?: readonly {
    readonly text: string;
    readonly tool?: string;
    readonly filter?: string;
    readonly t0?: Real;
    readonly t1?: Real;
  }[];
}

export interface Sidecar {
  readonly sonde?: number;
  readonly runs?: {readonly [key: string]: RunNotes | null};
  readonly views?: {readonly [key: string]: {readonly name?: string; readonly state?: string} | null};
  readonly layouts?: readonly unknown[] | null;
  readonly annotations?: readonly {readonly tag?: string; readonly run?: string; readonly x: Real; readonly text: string}[] | null;
  readonly sessions?: {readonly [key: string]: SessionNotes | null};
  readonly settings?: {readonly [key: string]: unknown} | null;
}

export interface ProfileSession {
  readonly id: string;
  readonly run: string;
  readonly name: string;
  readonly start: number;
  readonly hosts: readonly string[];
  readonly bytes: number;
  readonly formats: readonly string[];
  readonly state?: string;
  readonly captures?: number;
}

export interface Diagnostic {readonly severity: 'info' | 'warning' | 'error'; readonly text: string}

export interface ProfileTools {
  readonly session: string;
  readonly hosts: readonly {readonly name: string; readonly format: string; readonly bytes: number; readonly slices: number}[];
  readonly tools: readonly {
    readonly id: string;
    readonly title: string;
    readonly has_data: boolean;
    readonly reason?: string;
  }[];
  readonly diagnostics: readonly Diagnostic[];
}

export type MaybePair = Cell | readonly [Cell, Cell];

export interface ReportColumn {
  readonly id: string;
  readonly label: string;
  readonly type: 'text' | 'number' | 'bool' | 'string' | 'boolean';
  readonly unit?: string;
  readonly base?: string;
  readonly link?: string;
}

export interface ReportTable {
  readonly id: string;
  readonly title: string;
  readonly total: number;
  readonly columns: readonly ReportColumn[];
  readonly rows: readonly (readonly MaybePair[])[];
  readonly gone?: readonly (readonly MaybePair[])[];
  readonly properties?: {readonly [key: string]: string};
}

export interface Finding {
  readonly id: string;
  readonly rank: number;
  readonly severity: string;
  readonly fired: boolean;
  readonly text: string;
  readonly action?: string;
  readonly gain_ps?: Integer;
  readonly numbers: {readonly [key: string]: Real};
  readonly evidence: readonly {readonly tool?: string; readonly filter?: string; readonly t0?: Integer; readonly t1?: Integer}[];
  readonly change?: {readonly file: string; readonly diff: string};
}

export interface Report {
  readonly tool: string;
  readonly title: string;
  readonly inferred: readonly string[];
  readonly figures: readonly {
    readonly id: string;
    readonly label: string;
    readonly value: Cell;
    readonly unit?: string;
    readonly base?: string;
    readonly baseline?: Cell;
  }[];
  readonly tables: readonly ReportTable[];
  readonly charts: readonly {
    readonly id: string;
    readonly kind: string;
    readonly table: string;
    readonly x: string;
    readonly y: readonly string[];
    readonly category?: string;
  }[];
  readonly findings: readonly Finding[];
  readonly checked: readonly Finding[];
  readonly missing: readonly {readonly what: string; readonly why: string; readonly fix: string}[];
  readonly diagnostics: readonly Diagnostic[];
  readonly text?: string;
  readonly document?: unknown;
  readonly changes?: unknown;
}

export interface ReportRowsQuery {
  readonly session: string;
  readonly tool: string;
  readonly table: string;
  readonly host?: string;
  readonly baseline?: string;
  readonly sort?: readonly (readonly string[])[];
  readonly filter?: readonly RowFilter[];
  readonly offset?: number;
  readonly limit?: number;
  readonly begin_ps?: Integer;
  readonly end_ps?: Integer;
}

export interface ReportRows {
  readonly total: number;
  readonly rows: readonly (readonly MaybePair[])[];
  readonly gone?: readonly (readonly MaybePair[])[];
  readonly gone_total?: number;
}

export interface SessionInformation {
  readonly session: string;
  readonly version: string;
  readonly load_ms: number;
  readonly files: readonly {
    readonly name: string;
    readonly host: string;
    readonly format?: string;
    readonly bytes: number;
    readonly modified?: number;
  }[];
  readonly hosts: readonly {
    readonly name: string;
    readonly format: string;
    readonly tracks: number;
    readonly slices: number;
    readonly flows: number;
    readonly names: number;
    readonly memory: number;
    readonly duration: Integer;
    readonly metadata: readonly (readonly [string, string])[];
  }[];
  readonly diagnostics: readonly Diagnostic[];
}

export interface LoadProgress {
  readonly loading: boolean;
  readonly files: number;
  readonly files_done: number;
  readonly bytes: number;
  readonly bytes_done: number;
}

export interface CaptureRequest {
  readonly service: string;
  readonly worker_list?: string;
  readonly duration_ms?: number;
  readonly delay_ms?: number;
  readonly retries?: number;
  readonly host_tracer_level?: number;
  readonly device_tracer_level?: number;
  readonly python_tracer_level?: number;
  readonly timeout_ms?: number;
  readonly options?: {readonly [key: string]: string};
  readonly root?: string;
}

export interface CaptureJob {
  readonly capture: number;
  readonly state: 'running' | 'done' | 'failed' | 'cancelled';
  readonly session: string;
  readonly attempt: number;
  readonly attempts: number;
  readonly elapsed_ms: number;
  readonly expected_ms: number;
  readonly hosts: readonly {
    readonly host: string;
    readonly phase: 'connecting' | 'recording' | 'receiving' | 'done' | 'failed';
    readonly bytes: number;
    readonly error?: string;
  }[];
  readonly error?: string;
}

export interface WatchedRun {
  readonly run: string;
  readonly state: 'waiting' | 'recording';
  readonly asked: boolean;
  readonly host: string;
  readonly pid: number;
  readonly captures: number;
  readonly last: string;
  readonly age_s: number;
  readonly error?: string;
}

export interface CaptureState {
  readonly allowed: boolean;
  readonly reason: string;
  readonly roots: readonly string[];
  readonly captures: readonly CaptureJob[];
  readonly watched: readonly WatchedRun[];
}

export interface StepsRequest {readonly run: string; readonly steps?: number}

export interface DumpList {
  readonly dumps: readonly {
    readonly name: string;
    readonly start: number;
    readonly framework: string;
    readonly version: string;
    readonly hosts: readonly string[];
    readonly rank: number;
  }[];
  readonly problems: readonly string[];
}

export interface TensorHealth {
  readonly bad: number;
  readonly dtype: number;
  readonly rank: number;
  readonly shape: readonly number[];
  readonly size: Real | null;
  readonly neg_inf: Real | null;
  readonly pos_inf: Real | null;
  readonly nan: Real | null;
  readonly negative: Real | null;
  readonly zero: Real | null;
  readonly positive: Real | null;
  readonly numbers?: {readonly [key: string]: Real | null} | null;
  readonly histogram?: unknown;
}

export type ChainLink = TensorHealth & {
  readonly op: string;
  readonly type: string;
  readonly trace: number;
  readonly execution: number;
  readonly path: string;
  readonly line: number;
  readonly function: string;
};

export interface NumericsSummary {
  readonly sentence: string;
  readonly advice: string;
  readonly fault: {
    readonly step: Integer;
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
  readonly graphs: number;
  readonly ops: number;
  readonly has_steps: boolean;
  readonly files: readonly {
    readonly name: string;
    readonly kind: string;
    readonly bytes: number;
    readonly records: number;
    readonly damaged: number;
  }[];
  readonly damage: readonly {readonly file: string; readonly offset: number; readonly text: string}[];
}

export type TraceRow = TensorHealth & {
  readonly index: number;
  readonly op: string;
  readonly type: string;
  readonly graph: string;
  readonly slot: number;
  readonly step: Integer;
  readonly wall: Real;
  readonly mode: string;
  readonly device: string;
};

export interface TensorTraces {readonly total: number; readonly from: number; readonly rows: readonly TraceRow[]}

export interface ExecutionRow {
  readonly index: number;
  readonly type: string;
  readonly step: Integer;
  readonly wall: Real;
  readonly mode: string;
  readonly bad: number;
  readonly graph: string;
  readonly inputs: number;
  readonly outputs: readonly TensorHealth[];
}

export interface Executions {readonly total: number; readonly from: number; readonly rows: readonly ExecutionRow[]}

export interface HealthLists {
  readonly rms: readonly (Real | null)[];
  readonly zeros: readonly (Real | null)[];
  readonly wrong: readonly (Real | null)[];
  readonly saturated: readonly (Real | null)[];
  readonly bad: readonly (Real | null)[];
}

export type HealthRow = HealthLists & {
  readonly op: string;
  readonly type: string;
  readonly graph: string;
  readonly slot: number;
  readonly host: number;
  readonly first_bad: Integer;
  readonly beside?: readonly HealthLists[];
};

export interface NumericsMap {
  readonly total: number;
  readonly from: number;
  readonly steps: readonly Integer[];
  readonly rows: readonly HealthRow[];
}

export interface NumericsAlerts {
  readonly total: number;
  readonly from: number;
  readonly counts: {readonly [key: string]: number};
  readonly rows: readonly {
    readonly kind: 'bad' | 'spike' | 'explosion' | 'dead' | 'vanishing' | 'saturation';
    readonly text: string;
    readonly trace: number;
    readonly step: Integer;
    readonly op: string;
    readonly type: string;
    readonly graph: string;
    readonly slot: number;
  }[];
}

export interface NumericsComparison {
  readonly sentence: string;
  readonly compared: number;
  readonly only_first: number;
  readonly only_second: number;
  readonly total: number;
  readonly from: number;
  readonly rows: readonly {
    readonly step: Integer;
    readonly what: string;
    readonly first: ChainLink;
    readonly second: ChainLink;
  }[];
}

export interface StackFrame {
  readonly source: number;
  readonly path: string;
  readonly line: number;
  readonly function: string;
  readonly own: boolean;
}

export interface OpNeighbour {readonly op: string; readonly slot: number; readonly input?: number; readonly type: string}

export interface OpInfo {
  readonly op: string;
  readonly type: string;
  readonly graph: string;
  readonly graphs: readonly {readonly id: string; readonly name: string}[];
  readonly inputs: readonly OpNeighbour[];
  readonly consumers: readonly OpNeighbour[];
  readonly host: string;
  readonly frames: readonly StackFrame[];
}

export interface Stack {readonly host?: string; readonly frames: readonly StackFrame[]}

export interface SourceFile {readonly host?: string; readonly path: string; readonly lines: readonly string[]}

export interface GraphEntry {
  readonly id: string;
  readonly run: string;
  readonly tag: string;
  readonly kind: 'op' | 'conceptual' | 'upload';
  readonly metadata: readonly string[];
}

export interface GraphId {readonly graph: string}

export interface LevelQuery {
  readonly scope?: string;
  readonly open?: readonly string[];
  readonly aside?: readonly string[];
  readonly inside?: readonly string[];
}

export interface NodeLinks {readonly more: number; readonly items: readonly {readonly name: string; readonly kind: string}[]}

export interface LevelNode {
  readonly id: number;
  readonly name: string;
  readonly label: string;
  readonly kind: 'op' | 'scope' | 'series';
  readonly op?: string;
  readonly count: number;
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
  readonly open?: boolean;
  readonly aside?: boolean;
  readonly constants?: number;
  readonly summaries?: number;
  readonly in?: NodeLinks;
  readonly out?: NodeLinks;
  readonly device?: string;
  readonly cluster?: string;
  readonly time_ps?: number;
  readonly bytes?: number;
  readonly same?: number;
}

export interface LevelEdge {
  readonly from: number;
  readonly to: number;
  readonly kind: 'data' | 'control' | 'reference';
  readonly count: number;
  readonly elements: number;
  readonly label?: string;
  readonly at: readonly [number, number];
  readonly points: readonly number[];
}

export interface Level {
  readonly width: number;
  readonly height: number;
  readonly ops: number;
  readonly left_out: number;
  readonly stats: number;
  readonly nodes: readonly LevelNode[];
  readonly edges: readonly LevelEdge[];
  readonly functions: readonly {readonly name: string; readonly count: number}[];
  readonly errors: readonly string[];
}

export interface NodeHit {
  readonly name: string;
  readonly label: string;
  readonly kind: 'op' | 'scope' | 'series';
  readonly count: number;
  readonly op?: string;
  readonly device?: string;
  readonly cluster?: string;
  readonly time_ps?: number;
  readonly bytes?: number;
  readonly same?: number;
  readonly open?: readonly string[];
}

export interface NodeHits {readonly hits: readonly NodeHit[]; readonly total: number}

export interface NodeEnd {readonly name: string; readonly slot: number; readonly kind: string; readonly shape?: string}

export interface NodeInfo {
  readonly name: string;
  readonly label: string;
  readonly kind: 'op' | 'scope' | 'series';
  readonly count: number;
  readonly op?: string;
  readonly device?: string;
  readonly cluster?: string;
  readonly time_ps?: number;
  readonly bytes?: number;
  readonly same?: number;
  readonly open?: readonly string[];
  readonly attributes?: readonly {readonly key: string; readonly text: string; readonly bytes: number}[];
  readonly shapes?: readonly string[];
  readonly inputs: readonly NodeEnd[];
  readonly inputs_total: number;
  readonly outputs: readonly NodeEnd[];
  readonly outputs_total: number;
}

export interface Names {readonly names: readonly string[]}

export type Task = 'regression' | 'binary' | 'multiclass';

export type ColumnKind = 'numeric' | 'categorical' | 'text' | 'image';

export interface SetList {
  readonly sets: readonly {
    readonly id: string;
    readonly name: string;
    readonly run: string;
    readonly path: string;
    readonly problem?: string;
  }[];
  readonly may_type_endpoints: boolean;
}

export interface SetId {readonly id: string}

export interface SetModel {
  readonly name: string;
  readonly live: boolean;
  readonly url?: string;
  readonly needs_consent: boolean;
  readonly asking: boolean;
  readonly asked: number;
  readonly problem?: string;
  readonly steps?: readonly Integer[];
  readonly task?: Task;
  readonly labels?: readonly string[];
  readonly attributions?: readonly string[];
}

export interface ExampleSet {
  readonly name: string;
  readonly rows: number;
  readonly label: string;
  readonly note?: string;
  readonly custom_distance?: boolean;
  readonly columns: readonly {
    readonly name: string;
    readonly kind: ColumnKind;
    readonly integer: boolean;
    readonly list: boolean;
    readonly feature: boolean;
    readonly words?: number;
  }[];
  readonly models: readonly SetModel[];
}

export interface ExampleRows {
  readonly rows: readonly {
    readonly i: number;
    readonly values: readonly unknown[];
    readonly predictions: {readonly [key: string]: readonly Real[]};
    readonly attributions?: {readonly [key: string]: {readonly [key: string]: unknown}};
  }[];
}

export type Interval = readonly [Real | null, Real | null, Real | null];

export interface Slice {
  readonly name: string;
  readonly keys: readonly string[];
  readonly count: number;
  readonly sweep?: {
    readonly tp: readonly Real[];
    readonly fp: readonly Real[];
    readonly tn: readonly Real[];
    readonly fn: readonly Real[];
  };
  readonly auc?: Interval;
  readonly average_precision?: Real | null;
  readonly roc?: readonly (readonly Real[])[];
  readonly pr?: readonly (readonly Real[])[];
  readonly brier?: Real | null;
  readonly calibration_error?: Real | null;
  readonly calibration?: readonly {readonly score: Real; readonly rate: Interval; readonly count: number}[];
  readonly compatible?: {readonly roc: Real; readonly pr: Real};
  readonly accuracy?: Interval;
  readonly macro_f1?: Real | null;
  readonly top?: readonly Real[];
  readonly confusion?: readonly Real[];
  readonly labels?: readonly {readonly support: number; readonly precision: Real; readonly recall: Real; readonly f1: Real}[];
  readonly judged?: number;
  readonly one_vs_rest?: readonly LabelCurves[];
  readonly mean_error?: Real | null;
  readonly mean_absolute?: Interval;
  readonly mean_squared?: Real | null;
  readonly median_absolute?: Real | null;
  readonly r2?: Real | null;
}

export interface LabelCurves {
  readonly name: string;
  readonly sweep: unknown;
  readonly auc?: Interval;
  readonly average_precision?: Real | null;
  readonly roc?: readonly (readonly Real[])[];
  readonly pr?: readonly (readonly Real[])[];
  readonly brier?: Real | null;
  readonly calibration_error?: Real | null;
  readonly calibration?: readonly unknown[];
}

export interface Strategy {
  readonly name: string;
  readonly thresholds: readonly Real[];
  readonly cost: Real;
  readonly gap: Real;
  readonly accuracy: Real;
  readonly gaps: {
    readonly positive_rate: Real;
    readonly recall: Real;
    readonly false_positive_rate: Real;
    readonly accuracy: Real;
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
  readonly strategies?: readonly Strategy[];
  readonly attributions?: readonly {readonly feature: string; readonly all: Real | null; readonly slices: readonly (Real | null)[]}[];
}

export type SliceBy = string | {readonly feature: string; readonly buckets?: number; readonly cut?: 'width' | 'frequency'};

export interface SetPerformanceQuery {
  readonly model?: string;
  readonly label?: string;
  readonly slices?: readonly SliceBy[];
  readonly cost_ratio?: Real;
  readonly search?: 'all_targets' | 'first_slice';
}

export interface SetWorstQuery {
  readonly model?: string;
  readonly label?: string;
  readonly threshold?: Real;
  readonly depth?: number;
  readonly min_support?: number;
  readonly count?: number;
}

export interface SetNearestQuery {
  readonly row: number;
  readonly metric?: 'l1' | 'l2' | 'custom';
  readonly by?: 'features' | 'attributions';
  readonly k?: number;
  readonly model?: string;
  readonly threshold?: Real;
  readonly delta?: Real;
  readonly features?: readonly string[];
}

export interface SetTrainingQuery {
  readonly model?: string;
  readonly label?: string;
  readonly slices?: readonly SliceBy[];
  readonly from?: number;
  readonly to?: number;
}

export interface SetPredictQuery {
  readonly model: string;
  readonly edits: readonly {readonly row: number; readonly values: {readonly [key: string]: unknown}}[];
}

export interface SetDependenceQuery {
  readonly model: string;
  readonly features?: readonly string[];
  readonly row?: number;
  readonly samples?: number;
  readonly examples?: number;
  readonly low?: Real;
  readonly high?: Real;
  readonly elements?: string;
}

export interface SetPairQuery {
  readonly model: string;
  readonly features: readonly string[];
  readonly row?: number;
  readonly samples?: number;
  readonly examples?: number;
}

export interface SetCounterfactualQuery {
  readonly model: string;
  readonly edits: readonly {readonly row: number; readonly values: {readonly [key: string]: unknown}}[];
  readonly features?: readonly string[];
  readonly threshold?: Real;
  readonly delta?: Real;
  readonly changes?: number;
}

export interface Counterfactual {
  readonly found: boolean;
  readonly asked: number;
  readonly distance: Real;
  readonly task: Task;
  readonly labels: readonly string[];
  readonly from?: unknown;
  readonly to?: unknown;
  readonly changes: readonly {readonly feature: string; readonly from: unknown; readonly to: unknown}[];
}

export interface SetAskQuery {readonly model: string; readonly stop?: boolean}

export interface SetModelsQuery {readonly allow?: string; readonly name?: string; readonly url?: string}

export interface SetEditedQuery {
  readonly edits?: readonly {readonly row: number; readonly values: {readonly [key: string]: unknown}}[];
  readonly copies?: readonly number[];
  readonly removed?: readonly number[];
  readonly features?: readonly string[];
}

export interface EditedSet {readonly id: string; readonly rows: number; readonly first_copy: number}

export interface SetExportQuery {
  readonly format?: 'csv' | 'tfrecord';
  readonly edits?: readonly {readonly row: number; readonly values: {readonly [key: string]: unknown}}[];
}

export interface EmbeddingEntry {
  readonly id: string;
  readonly run: string;
  readonly name: string;
  readonly kind: 'file' | 'checkpoint' | 'upload';
  readonly shape: readonly number[];
  readonly path: string;
  readonly metadata: string;
  readonly sprite?: {readonly path: string; readonly width: number; readonly height: number};
  readonly bookmarks: boolean;
  readonly problem?: string;
}

export interface EmbeddingList {
  readonly embeddings: readonly EmbeddingEntry[];
  readonly problems: readonly {readonly run: string; readonly text: string}[];
}

export type Embedding = EmbeddingEntry & {
  readonly columns: readonly {
    readonly name: string;
    readonly type: 'text' | 'number';
    readonly distinct: number;
    readonly min?: Real;
    readonly max?: Real;
  }[];
  readonly warnings: readonly string[];
  readonly non_finite: number;
};

export interface NeighboursQuery {
  readonly i: number;
  readonly k?: number;
  readonly metric?: 'cosine' | 'euclidean';
  readonly subset?: readonly number[];
}

export interface Neighbours {
  readonly i: number;
  readonly metric: 'cosine' | 'euclidean';
  readonly exact: boolean;
  readonly ids: readonly number[];
  readonly distances: readonly Real[];
}

export type Bookmarks = readonly unknown[];

export interface JobState {
  readonly job: number;
  readonly kind: 'pca' | 'tsne' | 'umap' | 'custom';
  readonly embedding: string;
  readonly state: 'queued' | 'running' | 'paused' | 'done' | 'failed' | 'cancelled';
  readonly stage: string;
  readonly iteration: number;
  readonly of: number;
  readonly version: number;
  readonly eta_s?: Real | null;
  readonly error?: string;
}

export interface JobRequest {
  readonly kind: 'pca' | 'tsne' | 'umap' | 'custom';
  readonly embedding: string;
  readonly params?: {readonly [key: string]: unknown};
  readonly subset?: readonly number[];
}

export interface JobChange {readonly paused?: boolean; readonly learning_rate?: Real; readonly perturb?: number}

export interface SessionId {readonly session: string}

export interface Track {
  readonly id: number;
  readonly name: string;
  readonly kind: 'process' | 'thread' | 'stream' | 'counter' | 'async' | 'aggregate';
  readonly parent?: number;
  readonly order: number;
  readonly slices: number;
  readonly points: number;
  readonly depth: number;
  readonly busy: Integer;
}

export interface Tracks {
  readonly format: string;
  readonly t0: Integer;
  readonly t1: Integer;
  readonly slices: number;
  readonly flows: number;
  readonly arrows: boolean;
  readonly start_ns?: Integer;
  readonly names: number;
  readonly tracks: readonly Track[];
  readonly diagnostics: readonly string[];
}

export interface TraceNames {
  readonly from: number;
  readonly total: number;
  readonly names: readonly string[];
  readonly categories?: readonly string[];
  readonly category?: readonly number[];
}

export interface Area {readonly t0?: Integer; readonly t1?: Integer; readonly tracks?: readonly number[]}

export interface ViewQuery {
  readonly t0?: Integer;
  readonly t1?: Integer;
  readonly px?: number;
  readonly rows?: readonly {readonly track: number; readonly depth?: readonly [number, number]}[];
  readonly argument?: string;
}

export interface CountersQuery {
  readonly t0?: Integer;
  readonly t1?: Integer;
  readonly px?: number;
  readonly rows?: readonly {readonly track: number}[];
}

export interface SliceInfo {
  readonly slice: number;
  readonly name: string;
  readonly track: number;
  readonly depth: number;
  readonly begin: Integer;
  readonly dur: Integer;
}

export type SliceDetail = SliceInfo & {
  readonly self: Integer;
  readonly category?: string;
  readonly args: readonly (readonly [string, string])[];
  readonly parents: readonly SliceInfo[];
  readonly flows: readonly (SliceInfo & {readonly direction: 'to' | 'from'; readonly kind?: string})[];
  readonly next?: number;
  readonly previous?: number;
  readonly launched?: {readonly count: number; readonly time: Integer; readonly slices: readonly SliceInfo[]};
};

export interface SearchQuery {
  readonly q: string;
  readonly t0?: Integer;
  readonly t1?: Integer;
  readonly tracks?: readonly number[];
  readonly after?: number | null;
  readonly limit?: number;
  readonly px?: number;
}

export interface SearchHits {readonly total: number; readonly hits: readonly SliceInfo[]; readonly per_px?: readonly number[]}

export interface StatsQuery {
  readonly t0?: Integer;
  readonly t1?: Integer;
  readonly tracks?: readonly number[];
  readonly also?: readonly Area[];
  readonly by?: string;
  readonly limit?: number;
}

export interface GroupTotal {
  readonly name: string;
  readonly label?: number;
  readonly id?: number;
  readonly count: number;
  readonly total: Integer;
  readonly self: Integer;
  readonly mean: Real;
  readonly min: Integer;
  readonly p50: Integer;
  readonly p99: Integer;
  readonly max: Integer;
}

export interface Stats {readonly total: number; readonly rows: readonly GroupTotal[]}

export interface AreaQuery {
  readonly t0?: Integer;
  readonly t1?: Integer;
  readonly tracks?: readonly number[];
  readonly also?: readonly Area[];
}

export interface CounterStats {
  readonly rows: readonly {
    readonly track: number;
    readonly points: number;
    readonly min: Real;
    readonly max: Real;
    readonly mean: Real;
    readonly first: Real;
    readonly last: Real;
    readonly integral: Real;
  }[];
}

export interface FlameQuery {
  readonly t0?: Integer;
  readonly t1?: Integer;
  readonly tracks?: readonly number[];
  readonly also?: readonly Area[];
  readonly direction?: 'down' | 'up';
  readonly pivot?: string;
  readonly keep_stack?: string;
  readonly drop_stack?: string;
  readonly drop_frame?: string;
}

export interface Flame {
  readonly nodes: readonly {
    readonly name: string;
    readonly parent?: number;
    readonly count: number;
    readonly total: Integer;
    readonly self: Integer;
  }[];
  readonly left_out: number;
}

export interface TraceAbout {
  readonly format: string;
  readonly host: string;
  readonly file: string;
  readonly file_bytes: number;
  readonly start_ns?: Integer;
  readonly slices: number;
  readonly points: number;
  readonly flows: number;
  readonly metadata: readonly (readonly [string, string])[];
  readonly diagnostics: readonly Diagnostic[];
  readonly categories: readonly (readonly [string, number])[];
  readonly arguments: readonly (readonly [string, number])[];
  readonly kinds: readonly (readonly [string, number])[];
}

export interface TraceSteps {
  readonly start_ns?: Integer;
  readonly t0: Integer;
  readonly t1: Integer;
  readonly steps: readonly {readonly name: string; readonly begin: Integer; readonly end: Integer}[];
}

export interface FlowsQuery {readonly t0?: Integer; readonly t1?: Integer; readonly limit?: number; readonly kind?: string}

export interface FlowEnd {
  readonly slice: number;
  readonly track: number;
  readonly depth: number;
  readonly begin: Integer;
  readonly dur: Integer;
}

export interface Flows {
  readonly total: number;
  readonly flows: readonly {readonly kind?: string; readonly from: FlowEnd; readonly to: FlowEnd}[];
}

export interface SqlQuery {readonly sql: string; readonly limit?: number; readonly timeout_ms?: number}

export interface SqlAnswer {
  readonly table: {
    readonly id?: string;
    readonly title?: string;
    readonly columns: readonly {readonly id: string; readonly label: string; readonly type: string; readonly unit?: string}[];
    readonly rows: readonly (readonly Cell[])[];
    readonly total: number;
  };
  readonly cut?: string;
}

export interface SqlSchema {readonly tables: readonly {readonly name: string; readonly columns: readonly unknown[]}[]}

export type ColumnPlaces = {readonly [key: string]: {readonly t: 'u8' | 'u16' | 'u32' | 'i64' | 'f32' | 'f64'; readonly o: number; readonly n: number}};

export interface HistogramsHead {
  readonly boot: string;
  readonly rev: number;
  readonly n: number;
  readonly bins?: number | null;
  readonly total: number;
  readonly cols?: ColumnPlaces;
}

export interface MeshHead {
  readonly boot: string;
  readonly rev: number;
  readonly step: Integer;
  readonly sample: number;
  readonly cols?: ColumnPlaces;
}

export interface PeaksHead {
  readonly px: number;
  readonly channels: number;
  readonly rate: Real;
  readonly seconds: Real;
  readonly frames: number;
  readonly cols?: ColumnPlaces;
}

export interface ViewHead {
  readonly t0: Integer;
  readonly t1: Integer;
  readonly tick_ps: Integer;
  readonly px: number;
  readonly folded: boolean;
  readonly rows: {
    readonly track: readonly number[];
    readonly depth: readonly number[];
    readonly n: readonly number[];
    readonly exact: readonly number[];
  };
  readonly cols?: ColumnPlaces;
}

export interface CountersHead {
  readonly rows: {readonly track: readonly number[]; readonly n: readonly number[]};
  readonly cols?: ColumnPlaces;
}

export interface SetColumnsHead {
  readonly columns: readonly {readonly name: string; readonly kind: ColumnKind; readonly words?: readonly string[]}[];
  readonly cols?: ColumnPlaces;
}

export interface EmbeddingColumnHead {
  readonly name: string;
  readonly type: 'text' | 'number';
  readonly distinct: number;
  readonly min?: Real;
  readonly max?: Real;
  readonly words: readonly string[];
  readonly cols?: ColumnPlaces;
}

export interface VectorsHead {readonly from: number; readonly rows: number; readonly dims: number; readonly cols?: ColumnPlaces}

export type PositionsHead = JobState & {
  readonly rows: number;
  readonly columns: number;
  readonly replaced: number;
  readonly explained?: readonly Real[];
  readonly matches?: {readonly left?: number; readonly right?: number; readonly up?: number; readonly down?: number};
  readonly exact?: boolean;
  readonly recall?: Real;
  readonly cost?: Real;
  readonly cols?: ColumnPlaces;
};

export interface FeatureStatistics {
  readonly name: string;
  readonly kind: ColumnKind;
  readonly count: number;
  readonly missing: number;
  readonly mean_list_length: Real;
  readonly lengths?: readonly Real[];
  readonly length_edges?: readonly Real[];
  readonly non_uniformity: Real;
  readonly mean?: Real;
  readonly deviation?: Real;
  readonly zeros?: number;
  readonly not_finite?: number;
  readonly quantiles?: readonly Real[];
  readonly low?: Real;
  readonly median?: Real;
  readonly high?: Real;
  readonly edges?: readonly Real[];
  readonly histogram?: readonly Real[];
  readonly unique?: number;
  readonly mean_length?: Real;
  readonly top?: readonly (readonly [string, Real])[];
  readonly drift?: Real | null;
  readonly other?: FeatureStatistics;
}

export interface Features {
  readonly rows: number;
  readonly other_rows?: number;
  readonly features: readonly FeatureStatistics[];
}

export interface WorstSlices {
  readonly task: Task;
  readonly slices: readonly {
    readonly conditions: readonly (readonly [string, string])[];
    readonly support: number;
    readonly loss: Interval;
    readonly rest: Real;
    readonly excess: Real;
  }[];
}

export interface NearestExample {readonly row: number; readonly distance: Real}

export interface NearestExamples {
  readonly row: number;
  readonly metric: 'l1' | 'l2' | 'custom';
  readonly nearest: readonly NearestExample[];
  readonly counterfactual?: NearestExample | null;
  readonly delta?: Real;
}

export interface Training {
  readonly model: string;
  readonly task: string;
  readonly steps: readonly Integer[];
  readonly from: Integer;
  readonly to: Integer;
  readonly slices: readonly {readonly name: string; readonly count: number; readonly loss: readonly Real[]}[];
  readonly fixed?: readonly number[];
  readonly fixed_count?: number;
  readonly broken?: readonly number[];
  readonly broken_count?: number;
  readonly never_learnt?: readonly number[];
  readonly never_learnt_count?: number;
  readonly confident_errors?: readonly number[];
  readonly confident_errors_count?: number;
}

export interface Predicted {
  readonly model: string;
  readonly task: Task;
  readonly labels: readonly string[];
  readonly rows: readonly {readonly row: number; readonly scores: readonly Real[]; readonly attributions?: unknown}[];
}

export interface FeatureAxis {readonly name: string; readonly numeric: boolean; readonly values: readonly (Real | string)[]}

export interface Dependence {
  readonly model: string;
  readonly examples: number;
  readonly features: readonly {
    readonly name: string;
    readonly element: number;
    readonly numeric: boolean;
    readonly interest: Real;
    readonly values: readonly (Real | string)[];
    readonly labels: readonly string[];
    readonly means: readonly (readonly Real[])[];
    readonly single?: readonly (readonly Real[])[];
  }[];
}

export interface PairMap {
  readonly model: string;
  readonly examples: number;
  readonly x: FeatureAxis;
  readonly y: FeatureAxis;
  readonly labels: readonly string[];
  readonly means: readonly (readonly (readonly Real[])[])[];
}

export interface DigestFolder {readonly id: string; readonly captures: number; readonly bytes: number; readonly modified: number}

export interface DigestRanks {
  readonly digest: string;
  readonly ranks: readonly unknown[];
  readonly hosts: readonly string[];
  readonly steps: readonly string[];
  readonly median_ms: readonly Real[];
  readonly map: {readonly rows: number; readonly columns: number; readonly dur_ms: string};
  readonly stragglers: readonly {
    readonly rank: number;
    readonly lost_ms: Real;
    readonly slowest: number;
    readonly part: string;
    readonly part_ms: Real;
  }[];
  readonly outliers: readonly {readonly rank: number; readonly step: number; readonly dur_ms: Real; readonly median_ms: Real}[];
}

export interface DigestCollective {
  readonly name: string;
  readonly number: number;
  readonly ranks: number;
  readonly min_ms: Real;
  readonly mean_ms: Real;
  readonly max_ms: Real;
  readonly waited_ms: Real;
  readonly last_rank: string;
}

export interface DigestSqlQuery {readonly digest: string; readonly sql: string; readonly limit?: number}

export interface DigestOpenQuery {readonly digest: string; readonly rank: string}
