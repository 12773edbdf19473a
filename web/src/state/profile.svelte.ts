// What a link to a profile page restores: session, host, tool, baseline, and the place in the trace. Here and not
// in the dashboard, so that a captured step on a curve can open it.
import {slice, tab} from './view.svelte.ts';

export interface Note {
  readonly t0: number; // ps
  readonly t1: number;
  readonly text: string;
  readonly colour?: number; // of the slices' palette
}

/** A part of the capture that all pages are about. */
export interface Part {
  readonly begin: number; // ps
  readonly end: number;
  readonly text: string; // what to call it: the steps
}

/** A query whose rows are tracks of the trace viewer. */
export interface ExtraQuery {
  readonly sql: string;
  readonly kind: 'slices' | 'counter';
  readonly by: string; // a column: a track for each of its values; '': one track
  readonly title: string;
}

export const profileView = slice('profile', {
  session: '',
  host: '',
  tool: '',
  baseline: '',
  ask: {} as Record<string, string>, // further parameters of the tool: module_name, group_by …
  filter: '', // of the tool's tables: what a finding points at
  only: null as Part | null,
  peaks: {} as Record<string, string>, // instead of the device's known ones: peak_gflops, peak_gb_per_s
  t0: null as number | null, // ps
  t1: null as number | null,
  slice: null as number | null,
  find: '',
  second: '', // session under the first in the trace viewer
  align: 'start' as string, // where the two meet: start, step, wall
  pins: [] as number[], // tracks at the top
  hide: [] as number[],
  fold: [] as number[],
  order: [] as number[], // tracks moved by hand, in their order
  notes: [] as Note[],
  tracks: '', // filter of tracks by name
  without: [] as string[], // categories that are not drawn
  colour: 'name', // name, category, track, process, duration, argument:<key>
  arrows: 'selection', // selection, all, none, kind:<kind>
  clock: 'start', // of the time axis: start, step, utc, zero
  zero: null as number | null, // ps, where the clock "zero" begins
  sql: '', // in the editor of the SQL page
  extra: [] as ExtraQuery[], // shown as tracks
});

export const TRACE = 'trace_viewer';
/** In place of a host's name: all of them, in the trace viewer on one axis. */
export const ALL_HOSTS = 'ALL_HOSTS';
/** Instead of a query: the report of the critical path. */
export const CRITICAL_PATH = '#critical_path';
export const SQL = 'sql';
/** The page of notes and files: of the page alone, no tool of the server. */
export const INFORMATION = 'information';

/** What every question for a report says besides session, tool and host. */
export function reportParameters(): Record<string, string> {
  const part: Record<string, string> =
    profileView.only === null ? {} : {begin_ps: String(profileView.only.begin), end_ps: String(profileView.only.end)};
  return {...profileView.ask, ...profileView.peaks, ...part};
}

/** Goes to a tool's page; what was asked of another tool does not follow. */
export function openTool(tool: string, filter = '', ask: Readonly<Record<string, string>> = {}): void {
  [profileView.tool, profileView.filter, profileView.ask] = [tool, filter, {...ask}];
}

/** Goes to a place in the trace viewer. */
export function openTrace(t0: number, t1: number, host = profileView.host): void {
  const margin = Math.max(1000, (t1 - t0) * 0.05);
  [profileView.tool, profileView.host, profileView.t0, profileView.t1, profileView.slice] = [
    TRACE,
    host,
    Math.round(t0 - margin),
    Math.round(t1 + margin),
    null,
  ];
}

/** The critical path as a track of the trace viewer, or no longer. */
export function toggleCriticalPath(title: string): void {
  const without = profileView.extra.filter(one => one.sql !== CRITICAL_PATH);
  profileView.extra =
    without.length < profileView.extra.length
      ? without
      : [...without, {sql: CRITICAL_PATH, kind: 'slices', by: '', title}];
}

/** Another session: nothing of the place in the old one holds. */
export function chooseSession(session: string): void {
  Object.assign(profileView, {
    session,
    host: '',
    t0: null,
    t1: null,
    slice: null,
    find: '',
    ask: {},
    filter: '',
    only: null,
    pins: [],
    hide: [],
    fold: [],
    order: [],
    notes: [],
    tracks: '',
    without: [],
    zero: null,
  });
}

/** From anywhere on the page to a place in a capture. */
export function openCapture(session: string, t0: number, t1: number): void {
  chooseSession(session);
  openTrace(t0, t1, '');
  tab.go('profile');
}
