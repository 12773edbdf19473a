// A capture with the rows of queries as further tracks: everything that draws or asks sees one capture.
import {runSql} from '../../../data/sql.ts';
import {profileReport, profileRows, type ReportTable} from '../../../data/profile.ts';
import type {Area, Areas} from '../../../data/trace.ts';
import {CRITICAL_PATH, type ExtraQuery} from '../../../state/profile.svelte.ts';
import {toast} from '../../../state/toast.svelte.ts';
import {t} from '../../../text/messages.ts';
import {extraTracks} from '../sql/extra-tracks.ts';
import type {OpenCapture} from './capture.svelte.ts';

/** The rows of the critical path; those beyond the report's own are asked for piece by piece. */
async function pathTable(session: string, host: string, signal: AbortSignal): Promise<ReportTable> {
  const report = await profileReport(session, 'critical_path', host, '', {signal});
  const table = report.tables.find(one => one.id === 'path');
  if (table === undefined) throw new Error(report.missing[0]?.why ?? t('trace.path.none'));
  const rows = [...table.rows];
  while (rows.length < table.total) {
    const more = await profileRows(session, 'critical_path', host, '', 'path', rows.length, 5000, {signal});
    if (more.length === 0) break;
    rows.push(...more);
  }
  return {...table, rows};
}

/** `run` asks for the queries that were not asked yet. */
export function withExtra(
  base: OpenCapture,
  session: string,
  host: number,
  hostName: () => string, // '': all of them
  queries: () => readonly ExtraQuery[],
): OpenCapture & {run(): void} {
  const stop = new AbortController();
  const asked = new Set<string>();
  let tables = $state.raw<ReadonlyMap<string, ReportTable>>(new Map());
  /** Each query is run once, when it is first wanted. */
  function run(): void {
    for (const {sql} of queries()) {
      if (asked.has(sql)) continue;
      asked.add(sql);
      (sql === CRITICAL_PATH
        ? pathTable(session, hostName(), stop.signal)
        : runSql(session, host, sql, {signal: stop.signal}).then(answer => answer.table)
      )
        .then(table => (tables = new Map([...tables, [sql, table]])))
        .catch((problem: unknown) => {
          if (!stop.signal.aborted) toast(problem instanceof Error ? problem.message : String(problem));
        });
    }
  }
  const extra = $derived.by(() => {
    const info = base.info;
    const results = queries().flatMap(query => (tables.has(query.sql) ? [{query, table: tables.get(query.sql)!}] : []));
    return info === null || results.length === 0
      ? null
      : extraTracks(
          results,
          {track: info.tracks.length, label: info.names, slice: info.slices},
          t('profile.sql.tracks'),
        );
  });
  const info = $derived(
    base.info === null || extra === null ? base.info : {...base.info, tracks: [...base.info.tracks, ...extra.tracks]},
  );
  // Labels of queries stand behind all of the trace, of which some may not have come yet.
  const names = $derived(
    extra === null
      ? base.names
      : [...base.names, ...Array<string>(Math.max(0, base.info!.names - base.names.length)).fill(''), ...extra.names],
  );
  const cells = $derived(base.cells === null || extra === null ? base.cells : extra.into(base.cells));
  const counters = $derived(extra === null ? base.counters : [...base.counters, ...extra.counters]);
  const own = (ids: readonly number[]): readonly number[] => ids.filter(id => id < (base.info?.tracks.length ?? 0));
  const ownArea = (area: Area): Area => ({...area, tracks: area.tracks === null ? null : own(area.tracks)});
  const ownAreas = (areas: Areas): Areas => ({...ownArea(areas), also: areas.also.map(ownArea)});
  const source = base.source;
  return {
    run,
    source: {
      ...source,
      view: (t0, t1, px, rows, options) =>
        source.view(t0, t1, px, {...rows, tracks: own(rows.tracks), flat: own(rows.flat)}, options),
      slice: async id => extra?.detail(id) ?? source.slice(id),
      search: (q, where, page, options) => source.search(q, where === null ? null : ownArea(where), page, options),
      stats: (areas, by, options) => source.stats(ownAreas(areas), by, options),
      counterStats: (areas, options) => source.counterStats(ownAreas(areas), options),
      flame: (areas, shape, options) => source.flame(ownAreas(areas), shape, options),
      exportUrl: (t0, t1, tracks = []) => source.exportUrl(t0, t1, own(tracks)),
    },
    get info() {
      return info;
    },
    get names() {
      return names;
    },
    get categories() {
      return base.categories;
    },
    get category() {
      return base.category;
    },
    get steps() {
      return base.steps;
    },
    get cells() {
      return cells;
    },
    get counters() {
      return counters;
    },
    get failed() {
      return base.failed;
    },
    get about() {
      return base.about;
    },
    askAbout: () => base.askAbout(),
    want: wanted =>
      base.want({...wanted, tracks: own(wanted.tracks), flat: own(wanted.flat), counters: own(wanted.counters)}),
    close() {
      stop.abort();
      base.close();
    },
  };
}
