// From the server's columns to the lines of a custom chart: one line per run and tag, or a value with its
// margin. Problems are sentences beside the chart, not instead of it.
import {FEWEST_SMOOTHED} from '../../data/chart-series.ts';
import type {Columns, SeriesHead} from '../../data/columns.ts';
import type {MarginSeries} from '../../data/layouts.ts';
import type {ChartSeries, Numbers} from '../../draw/chart-model.ts';
import {tagStyle, type LineStyle} from '../../draw/palette.ts';

export interface Naming {
  nameOf(run: number): string;
  styleOf(run: number): LineStyle;
}

interface Line {
  readonly head: SeriesHead;
  readonly tag: string;
}

function linesOf(columns: Columns, tags: readonly string[]): Line[] {
  const entries = (columns.head['series'] as {entry?: readonly number[]} | undefined)?.entry ?? [];
  return columns.series.map((head, i) => ({head, tag: tags[entries[i] ?? 0] ?? ''}));
}

function base({head, tag}: Line, columns: Columns, label: string, colours: LineStyle): Omit<ChartSeries, 'y'> {
  return {
    key: `${head.run} ${tag}`,
    run: head.run,
    tag,
    label,
    colour: colours.colour,
    dash: colours.dash,
    x: columns.part('x', head) ?? [],
    exact: head.exact,
    total: head.total,
    first: head.first,
    step: columns.part('step', head),
    wall: columns.part('wall', head),
  };
}

/** Series = run × tag. The run's colour, a dash a tag. */
export function multiline(
  columns: Columns,
  tags: readonly string[],
  smoothed: boolean,
  naming: Naming,
  dark: boolean,
): ChartSeries[] {
  const lines = linesOf(columns, tags);
  const alone = new Set(lines.map(({head}) => head.run)).size === 1;
  return lines.map(line => {
    const at = tags.indexOf(line.tag);
    const own = naming.styleOf(line.head.run);
    const colours = tags.length > 1 ? tagStyle(own, at, dark) : own;
    const last = columns.part('last', line.head) ?? [];
    const {head} = line;
    const smoothedHere = smoothed && head.total >= FEWEST_SMOOTHED;
    return {
      ...base(
        line,
        columns,
        tags.length > 1 ? (alone ? line.tag : `${naming.nameOf(head.run)} · ${line.tag}`) : naming.nameOf(head.run),
        colours,
      ),
      y: smoothedHere ? (columns.part('smooth', head) ?? last) : last,
      ...(smoothedHere ? {raw: last} : {}),
      ...(head.exact ? {} : {lo: columns.part('min', head), hi: columns.part('max', head)}),
    };
  });
}

/** A value line with a band from lower to upper, per run; what does not fit is said in words. */
export function margin(
  columns: Columns,
  tags: readonly string[],
  wanted: readonly MarginSeries[],
  naming: Naming,
  say: (key: string, params: Record<string, string>) => string,
): {series: ChartSeries[]; problems: string[]} {
  const lines = linesOf(columns, tags);
  const byRun = new Map<number, Map<string, Line>>();
  for (const line of lines) {
    const known = byRun.get(line.head.run) ?? new Map<string, Line>();
    byRun.set(line.head.run, known.set(line.tag, line));
  }
  const series: ChartSeries[] = [];
  const problems: string[] = [];
  for (const [run, has] of byRun) {
    for (const {value, lower, upper} of wanted) {
      const [v, l, u] = [has.get(value), has.get(lower), has.get(upper)];
      const missing = [value, lower, upper].filter(tag => !has.has(tag));
      if (v === undefined || l === undefined || u === undefined) {
        if (missing.length < 3) problems.push(say('custom.lacks', {run: naming.nameOf(run), tags: missing.join(', ')}));
        continue;
      }
      const x = columns.part('x', v.head) ?? [];
      if (!same(x, columns.part('x', l.head) ?? []) || !same(x, columns.part('x', u.head) ?? [])) {
        problems.push(say('custom.steps_differ', {run: naming.nameOf(run), tags: [value, lower, upper].join(', ')}));
        continue;
      }
      series.push({
        ...base(
          v,
          columns,
          wanted.length > 1 ? `${naming.nameOf(run)} · ${value}` : naming.nameOf(run),
          naming.styleOf(run),
        ),
        y: columns.part('last', v.head) ?? [],
        bandLo: columns.part('last', l.head),
        bandHi: columns.part('last', u.head),
      });
    }
  }
  return {series, problems};
}

function same(a: Numbers, b: Numbers): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
