// The page's entry: styles, texts, then the shell into #app. Dashboards are loaded by the shell.
import {mount} from 'svelte';
import './tokens.css';
import './parts/parts.css';
import dashboardMessages from './dashboards/messages.json';
import partMessages from './parts/messages.json';
import shellMessages from './shell/messages.json';
import {dropBroughtColumns, hasBrought} from './data/brought.ts';
import App from './shell/App.svelte';
import {beginLoad} from './state/live.svelte.ts';
import {afterPicture, shellStands} from './state/picture.svelte.ts';
import {addMessages} from './text/messages.ts';

addMessages(partMessages);
addMessages(shellMessages);
addMessages(dashboardMessages);

// Answers that came with the page are there at once: the shell is drawn with them, not before them.
const brought = hasBrought();
const begun = beginLoad();
void afterPicture().then(dropBroughtColumns);
if (brought) void begun.then(start);
else start();

function start(): void {
  const target = document.getElementById('app');
  if (target !== null) mount(App, {target});
  shellStands();
}
