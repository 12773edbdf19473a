// The entry of a saved report: one page of panels, drawn from the answers in the file.
import './tokens.css';
import './parts/parts.css';
import {mount} from 'svelte';
import dashboardMessages from './dashboards/messages.json';
import panelMessages from './dashboards/panels/messages.json';
import Report from './dashboards/panels/Report.svelte';
import timeSeriesMessages from './dashboards/time_series/messages.json';
import {useClient} from './data/client.ts';
import {recordedClient, unpackAnswers} from './data/recorded.ts';
import partMessages from './parts/messages.json';
import {beginLoad} from './state/live.svelte.ts';
import {pages, valueColumns} from './state/pages.svelte.ts';
import {shellReady} from './state/first-paint.svelte.ts';
import {keepCells, wantColumns} from './state/runs.svelte.ts';
import {keepTheme} from './state/theme.svelte.ts';
import type {Slices} from './state/url.ts';
import {applySlices} from './state/view.svelte.ts';
import {addMessages} from './text/messages.ts';

[partMessages, dashboardMessages, timeSeriesMessages, panelMessages].forEach(addMessages);

const textOf = (id: string): string => document.getElementById(id)?.textContent ?? '';

async function begin(): Promise<void> {
  const about = JSON.parse(textOf('about')) as {title: string; made: string; view: Slices};
  useClient(recordedClient(await unpackAnswers(textOf('answers').trim())));
  document.documentElement.dataset['report'] = '';
  applySlices(about.view);
  await beginLoad();
  keepTheme();
  if (pages.current !== null) wantColumns('report', valueColumns(pages.current));
  keepCells();
  mount(Report, {target: document.getElementById('app')!, props: {title: about.title, made: about.made}});
  shellReady();
}
void begin();
