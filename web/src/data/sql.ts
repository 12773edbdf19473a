// Queries over a trace (docs/sql.md).
import {client, type AskOptions} from './client.ts';
import type {ReportTable} from './profile.ts';
import {hostWord} from './trace.ts';

export interface SqlAnswer {
  readonly table: ReportTable;
  readonly cut?: string; // "after 10000 rows" when there are more
}

export interface SqlTable {
  readonly name: string;
  readonly columns: readonly string[];
}

/** Giving up (the signal) ends the query on the server too. */
export const runSql = (session: string, host: number, sql: string, options?: AskOptions): Promise<SqlAnswer> =>
  client().ask<SqlAnswer>(`trace/sql?session=${encodeURIComponent(session)}&host=${hostWord(host)}`, {sql}, options);

export const sqlSchema = async (): Promise<readonly SqlTable[]> =>
  (await client().get<{tables: readonly SqlTable[]}>('trace/schema')).tables;
