// The page's entry: styles, then the shell into #app. Everything else is loaded by the shell.
import {mount} from 'svelte';
import './tokens.css';
import App from './shell/App.svelte';

const target = document.getElementById('app');
if (target !== null) mount(App, {target});
