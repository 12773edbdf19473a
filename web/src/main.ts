// The page's entry: styles, texts, the first answers and the first chart; then the shell, which is a file of its own.
import './tokens.css';
import './parts/parts.css';
import timeSeriesMessages from './dashboards/time_series/messages.json';
import {drawFirstChart} from './dashboards/time_series/first-chart.ts';
import partMessages from './parts/messages.json';
import {dropEmbeddedColumns, hasEmbeddedAnswers} from './data/embedded-answers.ts';
import {beginLoad} from './state/live.svelte.ts';
import {afterFirstPaint, onScreen} from './state/first-paint.svelte.ts';
import {addMessages, t} from './text/messages.ts';

addMessages(partMessages);
addMessages(timeSeriesMessages);

void begin(hasEmbeddedAnswers(), beginLoad());

async function begin(embedded: boolean, loaded: Promise<void>): Promise<void> {
  void afterFirstPaint().then(dropEmbeddedColumns);
  const drawn = embedded && (await loaded.then(drawFirstChart)); // without answers the shell says what it waits for
  if (drawn) await onScreen(); // the shell is work for some frames
  const shell = await import('./shell/start.ts').catch(() => null);
  if (shell === null) document.body.textContent = t('parts.no_shell');
  else shell.startShell();
  // The cell of a notebook shows a static view when its frame says nothing. The word tells nobody anything.
  if (window.parent !== window) window.parent.postMessage('sonde-shown', '*');
}
