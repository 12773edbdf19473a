// Embeddings and their projections (docs/api.md, Embeddings and Jobs). Tables travel as typed arrays.
import type * as api from './api.ts';
import {client, numberOf, type AskOptions} from './client.ts';

export type EmbeddingEntry = api.EmbeddingEntry;

export interface ColumnInfo {
  readonly name: string;
  readonly type: 'text' | 'number';
  readonly distinct: number;
}

export interface Embedding extends EmbeddingEntry {
  readonly columns: readonly ColumnInfo[];
  readonly warnings: readonly string[];
  readonly non_finite: number;
}

/** One column of the metadata, a value a point. */
export interface LabelColumn {
  readonly name: string;
  readonly type: 'text' | 'number';
  readonly words: readonly string[];
  readonly codes: Uint32Array; // into words
  readonly values: Float64Array | null; // of a column of numbers, NaN where there is none
}

export interface Neighbours {
  readonly i: number;
  readonly metric: Metric;
  readonly exact: boolean;
  readonly ids: readonly number[];
  readonly distances: readonly number[];
}

export type Metric = 'cosine' | 'euclidean';
export type JobKind = 'pca' | 'tsne' | 'umap' | 'custom';
export type JobState = 'queued' | 'running' | 'paused' | 'done' | 'failed' | 'cancelled';

export interface JobStatus {
  readonly job: number;
  readonly kind: JobKind;
  readonly embedding: string;
  readonly state: JobState;
  readonly stage: string;
  readonly iteration: number;
  readonly of: number;
  readonly version: number;
  readonly eta_s?: number;
  readonly error?: string;
}

export interface Positions extends JobStatus {
  readonly rows: number;
  readonly columns: number;
  readonly replaced: number;
  readonly explained?: readonly number[];
  readonly matches?: Readonly<Record<'left' | 'right' | 'up' | 'down', number>>;
  readonly exact?: boolean;
  readonly recall?: number;
  readonly cost?: number;
  readonly values: Float32Array; // rows · columns
}

export const embeddingList = (): Promise<{
  embeddings: readonly EmbeddingEntry[];
  problems: readonly {run: string; text: string}[];
}> => client().get('embeddings');
export const embeddingOf = (id: string, options: AskOptions = {}): Promise<Embedding> =>
  client().get(`embeddings/${id}`, {}, options);

export async function labelColumn(id: string, name: string, options: AskOptions = {}): Promise<LabelColumn> {
  const columns = await client().getColumns(`embeddings/${id}/column`, {name}, options);
  const codes = columns.col('code');
  const values = columns.col('value');
  return {
    name,
    type: columns.head['type'] === 'number' ? 'number' : 'text',
    words: columns.head['words'] as string[],
    codes: codes instanceof Uint32Array ? codes : new Uint32Array(),
    values: values instanceof Float64Array ? values : null,
  };
}

export async function vectorOf(id: string, row: number): Promise<Float32Array> {
  const found = (await client().getColumns(`embeddings/${id}/vectors`, {from: row, count: 1})).col('vector');
  return found instanceof Float32Array ? found : new Float32Array();
}

export async function neighboursOf(
  id: string,
  body: {i: number; k: number; metric: Metric; subset?: readonly number[]},
  options: AskOptions = {},
): Promise<Neighbours> {
  const answer = await client().ask<Neighbours>(`embeddings/${id}/neighbours`, body, options);
  return {...answer, distances: answer.distances.map(numberOf)};
}

export const spriteSource = (id: string): Promise<string> => client().source(`embeddings/${id}/sprite`);
export const bookmarksOf = (id: string): Promise<unknown> => client().get(`embeddings/${id}/bookmarks`);

async function upload(path: string, file: Blob): Promise<Embedding> {
  const answer = await client().raw(path, {
    method: 'POST',
    headers: {'Sonde-Request': '1', 'Content-Type': 'application/octet-stream'},
    body: file,
  });
  return (await answer.json()) as Embedding;
}
export const uploadVectors = (file: File, dims = 0): Promise<Embedding> =>
  upload(`embeddings?name=${encodeURIComponent(file.name)}${dims > 0 ? `&dims=${dims}` : ''}`, file);
export const uploadLabels = (id: string, file: Blob): Promise<Embedding> => upload(`embeddings/${id}/metadata`, file);

export interface JobQuestion {
  readonly kind: JobKind;
  readonly embedding: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly subset?: readonly number[];
}
export const startJob = async (question: JobQuestion): Promise<JobStatus> =>
  (await client().send<JobStatus>('POST', 'jobs', question)).value;
export const changeJob = async (
  job: number,
  change: {paused?: boolean; learning_rate?: number; perturb?: number},
): Promise<JobStatus> => (await client().send<JobStatus>('PATCH', `jobs/${job}`, change)).value;
export const cancelJob = async (job: number): Promise<JobStatus> =>
  (await client().send<JobStatus>('DELETE', `jobs/${job}`)).value;
export const jobStatus = (job: number, options: AskOptions = {}): Promise<JobStatus> =>
  client().get(`jobs/${job}`, {}, options);

export async function jobPositions(job: number, options: AskOptions = {}): Promise<Positions> {
  const columns = await client().getColumns(`jobs/${job}/positions`, {}, options);
  const values = columns.col('position');
  return {
    ...(columns.head as unknown as Omit<Positions, 'values'>),
    values: values instanceof Float32Array ? values : new Float32Array(),
  };
}
