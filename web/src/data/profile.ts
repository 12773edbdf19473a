// Profile sessions, tools and Reports (docs/api.md, Profile).
import type * as api from './api.ts';
import {client, type AskOptions} from './client.ts';

export type ProfileSession = api.ProfileSession;

export interface ProfileTool {
  readonly id: string;
  readonly title: string;
  readonly has_data: boolean;
  readonly reason?: string;
}

export type ProfileTools = api.ProfileTools;

export type Cell = string | number | boolean | null;
/** With a baseline every number is a pair. */
export type MaybePair = Cell | readonly [Cell, Cell];

export type ReportColumn = api.ReportColumn;

export interface ReportTable {
  readonly id: string;
  readonly title: string;
  readonly total: number;
  readonly columns: readonly ReportColumn[];
  readonly rows: readonly (readonly MaybePair[])[];
  readonly gone?: readonly (readonly MaybePair[])[]; // rows that only the baseline has
  readonly properties?: Readonly<Record<string, string>>;
}

export interface Finding {
  readonly id: string;
  readonly rank: number;
  readonly severity: string;
  readonly fired: boolean;
  readonly text: string;
  readonly action?: string;
  readonly gain_ps?: number | string;
  readonly numbers: Readonly<Record<string, number>>;
  readonly evidence: readonly {
    readonly tool?: string;
    readonly filter?: string;
    readonly t0?: number | string;
    readonly t1?: number | string;
  }[];
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
  readonly findings: readonly Finding[]; // what fired, most important first
  readonly checked?: readonly Finding[]; // rules that were asked and found no problem
  readonly missing: readonly {readonly what: string; readonly why: string; readonly fix: string}[];
  readonly diagnostics: readonly {readonly severity: string; readonly text: string}[];
  readonly text?: string;
  readonly document?: unknown; // trees and the like, as the tool makes them
  readonly changes?: unknown; // the document with every number as [value, baseline]
}

export const profileSessions = (): Promise<readonly ProfileSession[]> => client().get('profile/sessions');
export const profileTools = (session: string, options?: AskOptions): Promise<ProfileTools> =>
  client().get('profile/tools', {session}, options);
export const profileReport = (
  session: string,
  tool: string,
  host: string,
  baseline: string,
  options?: AskOptions,
  ask: Readonly<Record<string, string>> = {},
): Promise<Report> =>
  client().get(
    'profile/report',
    {...ask, session, tool, host: host || undefined, baseline: baseline || undefined},
    options,
  );
/** Rows of a table beyond those a Report carries, with the baseline's numbers beside them. */
export async function profileRows(
  session: string,
  tool: string,
  host: string,
  baseline: string,
  table: string,
  offset: number,
  limit: number,
  options?: AskOptions,
  ask: Readonly<Record<string, string>> = {},
): Promise<readonly (readonly MaybePair[])[]> {
  const answer = await client().ask<{rows: readonly (readonly MaybePair[])[]}>(
    'profile/rows',
    {...ask, session, tool, host: host || undefined, baseline: baseline || undefined, table, offset, limit},
    options,
  );
  return answer.rows;
}
export const csvUrl = (
  session: string,
  tool: string,
  host: string,
  table: string,
  ask: Readonly<Record<string, string>> = {},
): string => client().url('profile/report', {...ask, session, tool, host: host || undefined, table, format: 'csv'});

/** What a session consists of. */
export type SessionInformation = api.SessionInformation;
export const sessionInformation = (session: string, options?: AskOptions): Promise<SessionInformation> =>
  client().get('profile/information', {session}, options);

/** How far the server is with reading a session. */
export type LoadProgress = api.LoadProgress;
export const loadProgress = (session: string, options?: AskOptions): Promise<LoadProgress> =>
  client().get('profile/progress', {session}, options);

/** Hands over a capture file; with `into`, as a further host of a session dropped before. */
export async function dropCapture(file: File, into = ''): Promise<string> {
  const answer = await client().raw(
    `trace?name=${encodeURIComponent(file.name)}${into === '' ? '' : `&into=${encodeURIComponent(into)}`}`,
    {method: 'POST', body: file, headers: {'Sonde-Request': '1'}},
  );
  return ((await answer.json()) as {session: string}).session;
}

export const plain = (cell: MaybePair): Cell => (Array.isArray(cell) ? (cell[0] as Cell) : (cell as Cell));
export const other = (cell: MaybePair): Cell => (Array.isArray(cell) ? (cell[1] as Cell) : null);
