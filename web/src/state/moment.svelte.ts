// A moment of the wall clock that every chart over time marks: where a line was printed, where an alert fired.
import {linkedStep} from './linked.svelte.ts';
import {runs, showOnly} from './runs.svelte.ts';
import {navigate, slice, tab} from './view.svelte.ts';

export const moment = slice('moment', {wall: 0, text: ''}); // 0: none

const LONGEST = 24;

function onlyRun(name: string): void {
  const run = runs.all.find(one => one.name === name);
  if (run !== undefined) showOnly([run]);
}

/** The curves of a run with a mark at a moment, in seconds since 1970. */
export function openMoment(run: string, wall: number, text: string): void {
  onlyRun(run);
  [moment.wall, moment.text] = [wall, text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text];
  navigate('ts', {x: 'wall', zoom: null, filter: '', hideEmpty: true});
  tab.go('timeseries');
}

/** One curve of a run with a step selected. */
export function openCurve(run: string, tag: string, step: number): void {
  onlyRun(run);
  navigate('ts', {x: 'step', zoom: null, filter: `^${tag.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}$`});
  [linkedStep.on, linkedStep.step, linkedStep.end] = [true, step, null];
  tab.go('timeseries');
}
