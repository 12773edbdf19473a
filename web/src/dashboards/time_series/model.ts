// From the server's columns to what a chart draws.
import type {Columns} from '../../data/columns.ts';
import type {ChartSeries, Numbers} from '../../draw/chart-model.ts';
import {slotInk, type RunInk} from '../../draw/palette.ts';
import {smooth as smoothHere} from '../../draw/smooth.ts';
import type {CardSettings} from './settings.svelte.ts';

export interface ModelInput {
  readonly columns: Columns;
  readonly tags: readonly string[];
  readonly settings: CardSettings;
  readonly dark: boolean;
  readonly parts: boolean; // restarts kept
  readonly complete: boolean; // the whole range was asked: exact series may be smoothed here
  readonly thin: boolean; // members behind a group's line
  nameOf(run: number): string;
  inkOf(run: number): RunInk;
  groupOf?(index: number): {readonly key: string; readonly ink: RunInk};
}

export function seriesOf(input: ModelInput): ChartSeries[] {
  const {columns, settings, tags, dark} = input;
  const entries = (columns.head['series'] as {entry?: number[]} | undefined)?.entry ?? [];
  const runIds = new Set(columns.series.map(series => series.run));
  const byTag = tags.length > 1 && runIds.size === 1; // one run, several tags: a colour a tag
  return columns.series.map((head, i) => {
    const entry = entries[i] ?? 0;
    const tag = tags[entry] ?? tags[0] ?? '';
    const group = head.run < 0 ? input.groupOf?.(-1 - head.run) : undefined;
    const ink = byTag ? slotInk(entry, dark) : (group?.ink ?? input.inkOf(head.run));
    const name = group?.key ?? input.nameOf(head.run);
    const label = tags.length > 1 ? (byTag ? tag : `${name} · ${tag}`) : name;
    const part = (column: string): Numbers | undefined => columns.part(column, head);
    const common = {
      key: `${head.run} ${tag}`,
      run: head.run,
      tag,
      label,
      colour: ink.colour,
      dash: tags.length > 1 && !byTag ? slotInk(entry * 24, dark).dash : ink.dash,
      x: part('x') ?? [],
      exact: head.exact,
      total: head.total,
      first: head.first,
      parts: input.parts,
    };
    if (group !== undefined) {
      const centre = part('centre') ?? [];
      return {
        ...common,
        parts: false,
        y: centre,
        ...(settings.band === 'none' ? {} : {bandLo: part('lo'), bandHi: part('hi')}),
        members: part('members'),
      };
    }
    const last = part('last') ?? part('mean') ?? [];
    const smoothed = settings.smooth.kind !== 'none' && !(settings.smooth.kind === 'ema' && settings.smooth.p === 0);
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

/** All series complete and exact: another smoothing needs no question to the server. */
export function allExact(columns: Columns): boolean {
  return columns.series.every(series => series.exact && series.run >= 0);
}
