// The page's entry: styles, texts, the first answers and the first chart; then the shell, which is a file of its own.
import './tokens.css';
import './parts/parts.css';
import timeSeriesMessages from './dashboards/time_series/messages.json';
import {drawFirstPicture} from './dashboards/time_series/first-picture.ts';
import partMessages from './parts/messages.json';
import {dropBroughtColumns, hasBrought} from './data/brought.ts';
import {beginLoad} from './state/live.svelte.ts';
import {afterPicture, onScreen} from './state/picture.svelte.ts';
import {addMessages, t} from './text/messages.ts';

addMessages(partMessages);
addMessages(timeSeriesMessages);

void begin(hasBrought(), beginLoad());

async function begin(brought: boolean, loaded: Promise<void>): Promise<void> {
  void afterPicture().then(dropBroughtColumns);
  const drawn = brought && (await loaded.then(drawFirstPicture)); // without answers the shell says what it waits for
  if (drawn) await onScreen(); // the shell is work for some frames
  const shell = await import('./shell/start.ts').catch(() => null);
  if (shell === null) document.body.textContent = t('parts.no_shell');
  else shell.startShell();
}
