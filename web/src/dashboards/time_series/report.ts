// A page of panels out of the charts in view: same tags, same settings, same zoom, with room for text above them.
import {DEFAULT_LINES, type LineSettings} from '../../data/chart-series.ts';
import type {Panel} from '../../data/pages.ts';
import {addPage, panelsView} from '../../state/pages.svelte.ts';
import {runs} from '../../state/runs.svelte.ts';
import {tab} from '../../state/view.svelte.ts';
import {t} from '../../text/messages.ts';
import type {CardSpec} from './sections.ts';
import {own, settingsOf, view, zoomOf} from './settings.svelte.ts';

const MOST = 24; // charts: a report is read from its beginning to its end

/** What differs from how charts are drawn without settings. */
function changed(settings: LineSettings): Partial<LineSettings> {
  const plain = JSON.parse(JSON.stringify(settings)) as LineSettings;
  return Object.fromEntries(
    Object.entries(plain).filter(
      ([key, value]) => JSON.stringify(value) !== JSON.stringify(DEFAULT_LINES[key as keyof LineSettings]),
    ),
  );
}

export function makeReport(cards: readonly CardSpec[]): void {
  const date = new Date().toISOString().slice(0, 10);
  const charts = cards.slice(0, MOST);
  const panels = charts.map((card, i): Panel => {
    const set = own(card.key).set;
    return {
      id: `p${i + 2}`,
      kind: 'line',
      w: own(card.key).span === 'row' ? 12 : own(card.key).span === 'wide' ? 8 : 4,
      h: 10,
      y: card.tags,
      ...(set === undefined ? {} : {set: JSON.parse(JSON.stringify(set)) as Partial<LineSettings>}),
    };
  });
  const zooms = charts.map(card => zoomOf(card.key));
  addPage({
    title: t('ts.report_title', {date}),
    panels: [{id: 'p1', kind: 'text', w: 12, h: 2, text: t('ts.report_text', {date})}, ...panels],
    runs: runs.shown.length === runs.all.length ? null : runs.shown.map(run => run.name),
    settings: changed(settingsOf('')),
  });
  panelsView.zoom = view.zoom === null ? null : [view.zoom[0], view.zoom[1]];
  panelsView.zoomY = Object.fromEntries(
    panels.flatMap((panel, i) => {
      const y = zooms[i]!.y;
      return y === null ? [] : [[panel.id, [y[0], y[1]] as [number, number]]];
    }),
  );
  tab.go('panels');
}
