// Model graphs, laid out on the server one level at a time (docs/api.md, Graphs).
import type * as api from './api.ts';
import {client, type AskOptions} from './client.ts';

export type GraphEntry = api.GraphEntry;

export interface GraphItem {
  readonly name: string;
  readonly label: string;
  readonly kind: 'op' | 'scope' | 'series';
  readonly op?: string;
  readonly count: number;
  readonly device?: string;
  readonly cluster?: string;
  readonly time_ps?: number;
  readonly bytes?: number;
  readonly same?: number;
}

export interface GraphNode extends GraphItem {
  readonly id: number;
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
  readonly open?: boolean;
  readonly aside?: boolean;
  readonly constants?: number;
  readonly summaries?: number;
  readonly in?: {readonly more: number; readonly items: readonly {readonly name: string; readonly kind: string}[]};
  readonly out?: {readonly more: number; readonly items: readonly {readonly name: string; readonly kind: string}[]};
}

export type GraphEdge = api.LevelEdge;

export interface GraphPicture {
  readonly width: number;
  readonly height: number;
  readonly ops: number;
  readonly left_out: number;
  readonly stats: number;
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
  readonly functions: readonly {readonly name: string; readonly count: number}[];
  readonly errors: readonly string[];
}

export type GraphNeighbour = api.NodeEnd;

export interface GraphDetail extends GraphItem {
  readonly open: readonly string[];
  readonly attributes: readonly {readonly key: string; readonly text: string; readonly bytes: number}[];
  readonly shapes: readonly string[];
  readonly inputs: readonly GraphNeighbour[];
  readonly outputs: readonly GraphNeighbour[];
  readonly inputs_total: number;
  readonly outputs_total: number;
}

export const graphList = (): Promise<readonly GraphEntry[]> => client().get('graphs');
const at = (graph: string, question: string): string => `graphs/${graph}/${question}`;

export interface LevelQuery {
  readonly scope: string;
  readonly open: readonly string[];
  readonly aside: readonly string[];
  readonly inside: readonly string[];
}
export const graphLevel = (
  graph: string,
  metadata: string,
  query: LevelQuery,
  options?: AskOptions,
): Promise<GraphPicture> =>
  client().ask(
    `${at(graph, 'level')}${metadata === '' ? '' : `?metadata=${encodeURIComponent(metadata)}`}`,
    query,
    options,
  );
export const graphNode = (graph: string, metadata: string, name: string): Promise<GraphDetail> =>
  client().get(at(graph, 'node'), {name, metadata: metadata || undefined});
export const graphOutline = (graph: string, metadata: string, scope: string): Promise<readonly GraphItem[]> =>
  client().get(at(graph, 'outline'), {scope, metadata: metadata || undefined});
export const graphSearch = (
  graph: string,
  re: string,
): Promise<{hits: readonly (GraphItem & {readonly open: readonly string[]})[]; total: number}> =>
  client().get(at(graph, 'search'), {re, limit: 100});
export const graphTrace = (graph: string, name: string): Promise<{names: readonly string[]}> =>
  client().get(at(graph, 'trace'), {name});
export const graphFile = (graph: string, as: 'pb' | 'pbtxt'): string => client().url(at(graph, 'file'), {as});
export async function graphUpload(file: File): Promise<string> {
  const answer = await client().raw(`graphs?name=${encodeURIComponent(file.name)}`, {
    method: 'POST',
    body: file,
    headers: {'Sonde-Request': '1'},
  });
  return ((await answer.json()) as {graph: string}).graph;
}
