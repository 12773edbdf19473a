// The page's entry: styles, texts, then the shell into #app. Dashboards are loaded by the shell.
import {mount} from 'svelte';
import './tokens.css';
import './parts/parts.css';
import dashboardMessages from './dashboards/messages.json';
import partMessages from './parts/messages.json';
import shellMessages from './shell/messages.json';
import App from './shell/App.svelte';
import {addMessages} from './text/messages.ts';

addMessages(partMessages);
addMessages(shellMessages);
addMessages(dashboardMessages);

const target = document.getElementById('app');
if (target !== null) mount(App, {target});
