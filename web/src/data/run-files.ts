// What runs keep beside their events: tables of samples and rollouts, console output.
import {client, numberOf, type AskOptions} from './client.ts';

export interface TableName {
  readonly run: string;
  readonly name: string;
  readonly bytes: number;
}

export type CellKind = 'number' | 'text' | 'bool' | 'image' | 'audio' | 'video' | 'chat' | 'tokens' | 'json';

export interface SampleColumn {
  readonly name: string;
  readonly kind: CellKind;
}

export interface SampleRow {
  readonly row: number;
  readonly step: number;
  readonly time?: number;
  readonly cells?: Readonly<Record<string, unknown>>;
  readonly cut?: readonly string[]; // columns whose text is longer than what was sent
  readonly damage?: string;
}

export interface SampleRows {
  readonly total: number;
  readonly matched: number;
  readonly steps: readonly number[];
  readonly columns: readonly SampleColumn[];
  readonly rows: readonly SampleRow[];
}

export interface RowFilter {
  col: string;
  min?: number;
  max?: number;
  contains?: string;
}

export interface RowsQuestion {
  readonly run: string;
  readonly table: string;
  readonly step?: number | undefined;
  readonly q?: string | undefined;
  readonly sort?: readonly [string, 'asc' | 'desc'] | undefined;
  readonly filter?: readonly RowFilter[];
  readonly offset: number;
  readonly limit: number;
}

/** Without what programs said themselves: that stands with the alerts. */
export async function listTables(): Promise<readonly TableName[]> {
  const {tables} = await client().get<{tables: readonly TableName[]}>('tables');
  return tables.filter(one => one.name !== 'alerts');
}

export async function loadRows(question: RowsQuestion, options: AskOptions = {}): Promise<SampleRows> {
  const answer = await client().ask<SampleRows>('tables/rows', question, options);
  return {
    ...answer,
    steps: answer.steps.map(numberOf),
    rows: answer.rows.map(row => ({...row, step: numberOf(row.step)})),
  };
}

export const loadRow = (run: string, table: string, row: number): Promise<SampleRow> =>
  client().get<SampleRow>('tables/row', {run, table, row});

/** The address of a cell's file, for an element that loads it. */
export const mediaSource = (run: string, path: string): Promise<string> => client().source('tables/media', {run, path});

export interface ConsoleLine {
  readonly line: number;
  readonly time?: number;
  readonly stream?: 'stdout' | 'stderr';
  readonly rank?: number;
  readonly replaced?: boolean;
  readonly text: string;
}

export interface ConsolePage {
  readonly total: number;
  readonly from: number;
  readonly next: number;
  readonly lines: readonly ConsoleLine[];
}

export async function listConsoles(): Promise<readonly {run: string; bytes: number}[]> {
  return (await client().get<{consoles: readonly {run: string; bytes: number}[]}>('consoles')).consoles;
}

export const loadConsole = (
  run: string,
  from: number,
  count: number,
  q = '',
  options: AskOptions = {},
): Promise<ConsolePage> => client().get<ConsolePage>('console', {run, from, count, q: q || undefined}, options);

export interface FiredAlert {
  readonly key: string; // what is acknowledged or silenced
  readonly rule: string;
  readonly run: string;
  readonly group?: string; // of a rule that speaks once for a group
  readonly tag: string;
  readonly step: number;
  readonly wall: number;
  readonly text: string;
  readonly state: AlertState;
  readonly said?: boolean; // by the program itself
}

export type AlertState = 'open' | 'acknowledged' | 'silenced';

export interface AlertRule {
  readonly name: string;
  readonly when: string;
  readonly of_page: boolean; // made here, not in alerts.yaml
  readonly settings: Readonly<Record<string, string>>;
}

export interface AlertList {
  readonly rules: readonly AlertRule[];
  readonly problem?: string;
  readonly alerts: readonly FiredAlert[];
}

export async function loadAlerts(): Promise<AlertList> {
  const answer = await client().get<AlertList>('alerts');
  return {...answer, alerts: answer.alerts.map(one => ({...one, step: numberOf(one.step), wall: numberOf(one.wall)}))};
}
