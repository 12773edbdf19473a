// The shell into #app. Dashboards are loaded by the shell.
import {mount} from 'svelte';
import dashboardMessages from '../dashboards/messages.json';
import {shellReady} from '../state/first-paint.svelte.ts';
import {addMessages} from '../text/messages.ts';
import App from './App.svelte';
import shellMessages from './messages.json';

addMessages(shellMessages);
addMessages(dashboardMessages);

export function startShell(): void {
  const target = document.getElementById('app');
  if (target !== null) mount(App, {target});
  shellReady();
}
