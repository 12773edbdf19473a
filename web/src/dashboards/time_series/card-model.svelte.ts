// What a card draws: its settings, the answers to its question, the series and the model made of them.
import type {ChartModel, ChartSeries} from '../../draw/chart-model.ts';
import type {LineSettings} from '../../data/chart-series.ts';
import type {Domain} from '../../draw/scale.ts';
import {createLineData, type LineData} from '../../state/line-data.svelte.ts';
import {emptyModel, lineModel, lineSeries} from '../../state/line-model.ts';
import {runs} from '../../state/runs.svelte.ts';
import type {CardSpec} from './sections.ts';
import {linesOf, settingsOf, zoomOf} from './settings.svelte.ts';

export interface CardModel {
  readonly data: LineData;
  readonly settings: LineSettings;
  readonly zoom: {x: Domain | null; y: Domain | null};
  readonly series: readonly ChartSeries[];
  /** Of the whole range, also while a part of it is shown: the table may ask for steps outside. */
  readonly whole: readonly ChartSeries[];
  readonly model: ChartModel | null;
  /** Of the only run with lines here. */
  readonly soleColour: string | undefined;
}

const MOST_LABELS = 6; // groups whose names fit beside their lines
const LABELS_FROM_PX = 220;

/** The same object as long as it says the same: what is derived from it stays. */
function unchanged<T>(make: () => T): () => T {
  let [last, text]: [T | undefined, string] = [undefined, ''];
  return () => {
    const next = make();
    const now = JSON.stringify(next);
    if (last === undefined || now !== text) [last, text] = [next, now];
    return last;
  };
}

export function createCardModel(
  card: () => CardSpec,
  {key, inView, widthPx}: {key: string; inView: () => boolean; widthPx: () => number},
): CardModel {
  const data = createLineData({key, lines: () => linesOf(card()), zoom: () => zoomOf(key).x, inView, widthPx});
  const settings = $derived.by(unchanged(() => settingsOf(key)));
  const zoom = $derived(zoomOf(key));
  const lines = $derived(data.shown(zoom.x).lines);
  const centres = $derived(data.shown(zoom.x).centres);
  /** A thousand series are made anew only when their numbers or styles change, not for every zoom. */
  const series = $derived(lineSeries(linesOf(card(), settings), lines, centres));
  const whole = $derived(
    lines === data.base && centres === data.groups
      ? series
      : lineSeries(linesOf(card(), settings), data.base, data.groups),
  );
  const model = $derived.by((): ChartModel | null => {
    if (lines === null && centres === null) return inView() ? emptyModel(card().title) : null;
    return lineModel(linesOf(card(), settings), series, {
      whole: data.base ?? data.groups,
      shown: [lines, centres],
      zoom,
      labels:
        runs.groups.length > 0 &&
        centres !== null &&
        centres.columns.series.length <= MOST_LABELS &&
        widthPx() > LABELS_FROM_PX,
    });
  });
  const soleColour = $derived(
    series.length > 0 && series.every(one => one.run === series[0]!.run)
      ? runs.lineStyle(series[0]!.run).colour
      : undefined,
  );
  return {
    data,
    get settings() {
      return settings;
    },
    get zoom() {
      return zoom;
    },
    get series() {
      return series;
    },
    get whole() {
      return whole;
    },
    get model() {
      return model;
    },
    get soleColour() {
      return soleColour;
    },
  };
}
