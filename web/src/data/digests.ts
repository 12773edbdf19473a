// Digests of many ranks (docs/api.md, Digests).
import {client, type AskOptions} from './client.ts';
import type {SqlAnswer} from './sql.ts';

export interface DigestRanks {
  readonly digest: string;
  readonly ranks: readonly string[];
  readonly hosts: readonly string[];
  readonly steps: readonly string[];
  readonly median_ms: readonly (number | string | null)[];
  /** A cell is the longest of the ranks and steps it stands for. */
  readonly map: {readonly rows: number; readonly columns: number; readonly dur_ms: string};
  readonly stragglers: readonly {
    readonly rank: number;
    readonly lost_ms: number;
    readonly slowest: number;
    readonly part: string;
    readonly part_ms: number;
  }[];
  readonly outliers: readonly {
    readonly rank: number;
    readonly step: number;
    readonly dur_ms: number;
    readonly median_ms: number;
  }[];
}

export interface DigestCollective {
  readonly name: string;
  readonly number: number;
  readonly ranks: number;
  readonly min_ms: number;
  readonly mean_ms: number;
  readonly max_ms: number;
  readonly waited_ms: number;
  readonly last_rank: string;
}

export const digestRanks = (digest: string, options?: AskOptions): Promise<DigestRanks> =>
  client().get('digests/ranks', {digest}, options);
export const digestCollectives = (digest: string, options?: AskOptions): Promise<readonly DigestCollective[]> =>
  client().get('digests/collectives', {digest}, options);
export const digestSql = (digest: string, sql: string, options?: AskOptions): Promise<SqlAnswer> =>
  client().ask('digests/sql', {digest, sql}, options);
/** The session that the whole trace of one rank makes. */
export async function openRank(digest: string, rank: string): Promise<string> {
  return (await client().send<{session: string}>('POST', 'digests/open', {digest, rank})).value.session;
}

/** Cells of the map, row by row; NaN where no rank has the step. */
export function mapCells(map: DigestRanks['map']): Float32Array {
  const bytes = Uint8Array.from(atob(map.dur_ms), letter => letter.charCodeAt(0));
  return new Float32Array(bytes.buffer, 0, map.rows * map.columns);
}

/** Which of `all` things cell `at` of `cells` stands for. */
export function rangeOf(at: number, cells: number, all: number): readonly [number, number] {
  return [
    Math.ceil((at * all) / cells),
    Math.max(Math.ceil(((at + 1) * all) / cells), Math.ceil((at * all) / cells) + 1),
  ];
}
