// Search in the first capture: how many slices fit, where they are, and going from one to the next.
import type {Area, SliceInfo, TraceSource} from '../../../data/trace.ts';
import {toast} from '../../../state/toast.svelte.ts';
import {view} from '../view.svelte.ts';

export interface Search {
  query: string; // in the field
  readonly asked: string; // what the marks are of
  scope: Scope; // where to look
  readonly span: readonly [number, number] | null; // of the time that `perPixel` divides
  readonly total: number;
  readonly at: number; // which hit is chosen, from 1; 0 for none
  readonly perPixel: readonly number[];
  readonly times: readonly number[]; // where the first hits begin, exactly
  /** The next hit (1) or the one before (-1); a new question starts at the first. */
  find(by: 1 | -1): Promise<void>;
  clear(): void;
}

export const SCOPES = ['all', 'view', 'tracks', 'chosen'] as const;
/** Everywhere, in the time in view, on the tracks that are shown, or in what is chosen. */
export type Scope = (typeof SCOPES)[number];

const PAGE = 2000; // hits held, so that going back needs no question
const PIXELS = 600;

interface Host {
  source(): TraceSource;
  found(hit: SliceInfo): void;
  /** Null: everywhere. */
  where(scope: Scope): Area | null;
  /** What begins with a colon is a query, not a search. */
  query(sql: string): void;
}

export function createSearch(host: Host): Search {
  let query = $state(view.find);
  let asked = $state('');
  let total = $state(0);
  let at = $state(0);
  let perPixel = $state.raw<readonly number[]>([]);
  let times = $state.raw<readonly number[]>([]);
  let hits: SliceInfo[] = [];
  let from: TraceSource | null = null;
  let scope = $state<Scope>('all');
  let where: Area | null = null; // of the hits at hand
  let span = $state.raw<readonly [number, number] | null>(null);
  let ticket = 0;

  async function first(): Promise<void> {
    const mine = ++ticket;
    const area = host.where(scope);
    const answer = await host.source().search(query, area, {after: null, limit: PAGE, px: PIXELS});
    if (mine !== ticket) return;
    from = host.source();
    where = area;
    span = area === null ? null : [area.t0, area.t1];
    [asked, total, perPixel, hits, at] = [query, answer.total, answer.per_px, [...answer.hits], 0];
    times = answer.hits.map(hit => hit.begin);
  }
  return {
    get query() {
      return query;
    },
    set query(value) {
      query = value;
    },
    get asked() {
      return asked;
    },
    get scope() {
      return scope;
    },
    set scope(value) {
      scope = value;
      asked = ''; // the next question is a new one
    },
    get span() {
      return span;
    },
    get total() {
      return total;
    },
    get at() {
      return at;
    },
    get perPixel() {
      return perPixel;
    },
    get times() {
      return times;
    },
    async find(by) {
      view.find = query;
      if (query === '') return this.clear();
      if (query.startsWith(':')) return host.query(query.slice(1).trim());
      try {
        if (asked !== query || from !== host.source()) await first();
        if (total === 0) return;
        const next = at + by < 1 ? Math.min(total, hits.length) : at + by > total ? 1 : at + by;
        if (next > hits.length)
          hits.push(
            ...(await host.source().search(query, where, {after: hits[hits.length - 1]!.slice, limit: PAGE, px: 0}))
              .hits,
          );
        at = Math.min(next, hits.length);
        const hit = hits[at - 1];
        if (hit !== undefined) host.found(hit);
      } catch (problem) {
        toast(problem instanceof Error ? problem.message : String(problem));
      }
    },
    clear() {
      ticket++;
      [query, asked, total, at, perPixel, hits] = ['', '', 0, 0, [], []];
      times = [];
      view.find = '';
    },
  };
}
