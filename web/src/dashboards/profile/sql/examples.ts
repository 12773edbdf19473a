// Queries to begin with; docs/sql.md has them with words around, and a test runs each.
export interface Example {
  readonly title: string; // message key
  readonly sql: string;
}

export const EXAMPLES: readonly Example[] = [
  {
    title: 'profile.sql.example.names',
    sql: 'select name, count, dur_ms, self_ms, mean_ms\nfrom names_ms\norder by self_ms desc\nlimit 50',
  },
  {
    title: 'profile.sql.example.longest',
    sql: 'select id, ts, dur, name, process, thread\nfrom thread_slices\norder by dur desc\nlimit 50',
  },
  {
    title: 'profile.sql.example.threads',
    sql: 'select t.process, t.thread, s.slices, ms(s.self) as self_ms\nfrom (select track, count(*) as slices, sum(self) as self from slices group by track) s\njoin tracks t on t.id = s.track\norder by self_ms desc',
  },
  {
    title: 'profile.sql.example.spread',
    sql: 'select name, count(*) as count, median(dur) / 1e9 as median_ms, percentile(dur, 99) / 1e9 as p99_ms, max(dur) / 1e9 as max_ms\nfrom slices\ngroup by name\nhaving count(*) >= 10\norder by p99_ms / median_ms desc\nlimit 30',
  },
  {
    title: 'profile.sql.example.gaps',
    sql: "select id, ts + dur as ts, next - ts - dur as dur, 'idle after ' || name as name, thread\nfrom (select *, lead(ts) over (partition by track order by ts) as next from device_slices)\nwhere next > ts + dur\norder by dur desc\nlimit 100",
  },
  {
    title: 'profile.sql.example.steps',
    sql: 'select name, dur_ms, device_compute_ms, input_ms, launch_ms, collectives_ms, other_ms\nfrom steps_ms',
  },
  {
    title: 'profile.sql.example.in_step',
    sql: 'select st.name as step, s.name, count(*) as count, sum(s.dur) / 1e9 as dur_ms\nfrom steps st\njoin slices s on s.ts >= st.ts and s.ts < st.ts + st.dur\nwhere s.depth = 0\ngroup by st.id, s.name\norder by dur_ms desc\nlimit 100',
  },
  {
    title: 'profile.sql.example.args',
    sql: 'select key, count(*) as count, count(distinct value) as different, min(value) as least, max(value) as most\nfrom args\ngroup by key\norder by count desc',
  },
  {
    title: 'profile.sql.example.delays',
    sql: 'select k.id, k.ts, k.dur, k.name, ms(k.ts - l.ts - l.dur) as wait_ms, l.name as launched_by\nfrom flows f\njoin slices l on l.id = f.from_slice\njoin slices k on k.id = f.to_slice\norder by wait_ms desc\nlimit 100',
  },
  {
    title: 'profile.sql.example.counters',
    sql: 'select name, count(*) as points, min(value) as least, avg(value) as mean, max(value) as most\nfrom counters\ngroup by track',
  },
];
