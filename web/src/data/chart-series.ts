// From the server's columns to what a chart draws.
import type {ChartSeries, Numbers} from '../draw/chart-model.ts';
import {tagStyle, type LineStyle} from '../draw/palette.ts';
import {smooth as smoothHere} from '../draw/smooth.ts';
import type {Columns} from './columns.ts';
import type {Scale, Smoothing} from './types.ts';

/** How a chart of lines is drawn. */
export interface LineSettings {
  x: string; // step | relative | wall | tag:<name>
  xscale: Scale;
  yscale: Scale;
  smooth: Smoothing;
  ghost: number; // opacity of the raw line
  outliers: number; // share ignored at each end
  ymin: number | null;
  ymax: number | null;
  centre: 'mean' | 'median';
  band: string; // std | se | minmax | q:0.05,0.95 | q:0.25,0.75 | boot95 | none
  members: 'hide' | 'thin' | 'full';
  share: number; // of a group's runs that its line needs
}

export const DEFAULT_LINES: LineSettings = {
  x: 'step',
  xscale: 'linear',
  yscale: 'linear',
  smooth: {kind: 'ema', p: 0.6},
  ghost: 0.28,
  outliers: 0.05,
  ymin: null,
  ymax: null,
  centre: 'mean',
  band: 'std',
  members: 'hide',
  share: 0.6,
};

/** A line of all runs together (an expression such as mean(loss)): the run id that the server gives it. */
export const ALL_RUNS = -1_000_000;

/** What a line shows is a tag or, after "=", an expression over tags. */
export function expressionOf(name: string): string | null {
  return name.startsWith('=') ? name.slice(1).trim() : null;
}
export function lineName(name: string): string {
  return expressionOf(name) ?? name;
}

export interface ModelInput {
  readonly columns: Columns;
  readonly tags: readonly string[];
  readonly settings: LineSettings;
  readonly dark: boolean;
  readonly parts: boolean; // restarts kept
  readonly neutral: string; // colour of a line that belongs to no run
  readonly second?: readonly string[]; // tags that have the axis at the right
  readonly complete: boolean; // the whole range was asked: exact series may be smoothed here
  readonly thin: boolean; // members behind a group's line
  nameOf(run: number): string;
  styleOf(run: number): LineStyle;
  groupOf?(index: number): {readonly key: string; readonly style: LineStyle};
}

/** Series of fewer points are drawn as they are: an average of five values is no trend. */
export const FEWEST_SMOOTHED = 30;

function isSmoothing(smooth: LineSettings['smooth']): boolean {
  return smooth.kind !== 'none' && !(smooth.kind === 'ema' && smooth.p === 0);
}

export function seriesOf(input: ModelInput): ChartSeries[] {
  const {columns, settings, tags, dark} = input;
  const entries = (columns.head['series'] as {entry?: number[]} | undefined)?.entry ?? [];
  const runIds = new Set(columns.series.map(series => series.run));
  const byTag = tags.length > 1 && runIds.size === 1; // one run, several tags: named by their tags
  return columns.series.map((head, i) => {
    const entry = entries[i] ?? 0;
    const tag = tags[entry] ?? tags[0] ?? '';
    const group = head.run < 0 && head.run !== ALL_RUNS ? input.groupOf?.(-1 - head.run) : undefined;
    const own = group?.style ?? (head.run === ALL_RUNS ? {colour: input.neutral, dash: []} : input.styleOf(head.run));
    const style = tags.length > 1 ? tagStyle(own, entry, dark) : own;
    const name = group?.key ?? (head.run === ALL_RUNS ? lineName(tag) : input.nameOf(head.run));
    const label =
      tags.length > 1 && head.run !== ALL_RUNS ? (byTag ? lineName(tag) : `${name} · ${lineName(tag)}`) : name;
    const part = (column: string): Numbers | undefined => columns.part(column, head);
    const common = {
      key: `${head.run} ${tag}`,
      run: head.run,
      tag,
      label,
      colour: style.colour,
      dash: style.dash,
      x: part('x') ?? [],
      exact: head.exact,
      total: head.total,
      first: head.first,
      parts: input.parts && expressionOf(tag) === null,
      ...(input.second?.includes(tag) === true ? {second: true} : {}),
    };
    if (group !== undefined) {
      return {...common, parts: false, ...groupLine(part, settings)};
    }
    const last = part('last') ?? part('mean') ?? [];
    const smoothed = head.total >= FEWEST_SMOOTHED && isSmoothing(settings.smooth);
    let y: Numbers;
    if (!smoothed) y = head.exact ? last : (part('mean') ?? last);
    else if (head.exact && input.complete) y = smoothHere(last, settings.smooth.kind, settings.smooth.p);
    else y = part('smooth') ?? last;
    const {step, wall, nan} = {step: part('step'), wall: part('wall'), nan: part('nan')};
    return {
      ...common,
      y,
      // In an unsmoothed thinned series the line is the bucket's mean; the last value is what the tooltip says.
      raw: smoothed || !head.exact ? last : undefined,
      ...(head.exact ? {} : {lo: part('min'), hi: part('max')}),
      step: settings.x.startsWith('tag:') ? step : undefined,
      wall,
      nan,
      ...(input.thin ? {width: 1, alpha: 0.35} : {}),
    };
  });
}

/** A group's line where enough of its runs have a value: a mean of what is left of it would jump. */
function groupLine(
  part: (column: string) => Numbers | undefined,
  settings: LineSettings,
): Pick<ChartSeries, 'x' | 'y' | 'bandLo' | 'bandHi' | 'members'> {
  const members = part('members') ?? [];
  let most = 0;
  for (let i = 0; i < members.length; i++) most = Math.max(most, members[i]!);
  const enough = (i: number): boolean => members[i]! >= settings.share * most;
  let [from, to] = [0, members.length];
  while (from < to && !enough(from)) from++;
  while (to > from && !enough(to - 1)) to--;
  const cut = (column: string): number[] =>
    Array.from({length: to - from}, (_, i) => (enough(from + i) ? (part(column)?.[from + i] ?? NaN) : NaN));
  const slice = (numbers: Numbers): number[] => Array.from({length: to - from}, (_, i) => numbers[from + i]!);
  return {
    x: slice(part('x') ?? []),
    y: cut('centre'),
    ...(settings.band === 'none' ? {} : {bandLo: cut('lo'), bandHi: cut('hi')}),
    members: slice(members),
  };
}

/** All series complete and exact: another smoothing needs no question to the server. */
export function allExact(columns: Columns): boolean {
  return columns.series.every(series => series.exact && series.run >= 0);
}
