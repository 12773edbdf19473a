// The picture of a chart of lines: its series with the names and styles of the runs, and how they are drawn.
import {ALL_RUNS, lineName, seriesOf} from '../data/chart-series.ts';
import type {Columns} from '../data/columns.ts';
import type {ChartModel, ChartSeries} from '../draw/chart-model.ts';
import {slotStyle} from '../draw/palette.ts';
import type {Domain} from '../draw/scale.ts';
import {moment} from './moment.svelte.ts';
import {runs} from './runs.svelte.ts';
import {sidecar} from './sidecar.svelte.ts';
import {theme} from './theme.svelte.ts';
import type {Lines} from './line-question.ts';
import {xTitleOf} from './line-text.ts';

export interface Loaded {
  readonly columns: Columns;
  readonly range: Domain | null;
}

/** The lines of the runs and, in front of them, those of the groups. */
export function lineSeries(of: Lines, lines: Loaded | null, centres: Loaded | null): readonly ChartSeries[] {
  const {settings} = of;
  const groups = runs.groups;
  const grouped = groups.length > 0;
  const shared = {
    tags: of.tags,
    settings,
    dark: theme.dark,
    parts: of.restarts === 'all',
    neutral: theme.colours.text,
    ...(of.second === undefined ? {} : {second: of.second}),
    nameOf: (id: number) => (runs.byId(id) === undefined ? String(id) : runs.nameOf(runs.byId(id)!)),
    styleOf: runs.lineStyle,
    groupOf: (index: number) => ({
      key: groups[index]?.key ?? '',
      style: groups[index] === undefined ? slotStyle(index, theme.dark) : runs.groupStyle(groups[index]),
    }),
  };
  const out: ChartSeries[] = [];
  if (lines !== null)
    out.push(
      ...seriesOf({
        ...shared,
        columns: lines.columns,
        complete: lines.range === null,
        thin: grouped && settings.members === 'thin',
      }).filter(one => one.run === ALL_RUNS || of.has(one.run)),
    );
  if (centres !== null && grouped)
    out.push(...seriesOf({...shared, columns: centres.columns, complete: centres.range === null, thin: false}));
  return out;
}

export interface Sight {
  readonly whole: Loaded | null; // the data of the whole range, which says where x begins and ends
  readonly shown: readonly (Loaded | null)[]; // what the series were made of
  readonly zoom: {readonly x: Domain | null; readonly y: Domain | null};
  readonly labels: boolean; // names at the lines' ends
}

export function lineModel(
  {tags, settings}: Lines,
  series: readonly ChartSeries[],
  {whole, shown, zoom, labels}: Sight,
): ChartModel {
  const head = whole?.columns.head;
  const extent =
    head !== undefined && typeof head['x0'] === 'number' && typeof head['x1'] === 'number' && head['x1'] > head['x0']
      ? ([head['x0'], head['x1']] as const)
      : null;
  return {
    title: tags.map(lineName).join(', '),
    series,
    xKind: settings.x.startsWith('tag:') ? 'value' : (settings.x as 'step'),
    xTitle: xTitleOf(settings.x),
    xScale: settings.xscale,
    yScale: settings.yscale,
    xView: zoom.x,
    xExtent: zoom.x === null ? (settings.xscale === 'log' ? null : extent) : null,
    yView: zoom.y,
    yEnds: [settings.ymin, settings.ymax],
    outliers: settings.outliers,
    ghost: settings.ghost,
    labels,
    fine:
      zoom.x !== null &&
      shown.every(loaded => loaded === null || (loaded.range?.[0] === zoom.x![0] && loaded.range[1] === zoom.x![1])),
    notes: [
      ...(sidecar.doc.annotations ?? [])
        .filter(note => settings.x === 'step' && (note.tag === undefined || tags.includes(note.tag)))
        .map(note => ({x: note.x, text: note.text})),
      ...(settings.x === 'wall' && moment.wall > 0 ? [{x: moment.wall, text: moment.text}] : []),
    ],
  };
}

/** Axes without lines, for a chart whose data are on their way. */
export function emptyModel(title: string): ChartModel {
  return {
    title,
    series: [],
    xKind: 'step',
    xTitle: '',
    xScale: 'linear',
    yScale: 'linear',
    xView: null,
    yView: null,
    outliers: 0,
    ghost: 0,
    labels: false,
  };
}
