// What the palette offers for a text: commands, tags, runs, steps.
import {preferences} from '../state/preferences.svelte.ts';
import {commands} from '../state/commands.svelte.ts';
import {linkedStep} from '../state/linked.svelte.ts';
import {runs, showOnly} from '../state/runs.svelte.ts';
import {tags} from '../state/tags.svelte.ts';
import {slice, tab} from '../state/view.svelte.ts';
import {fuzzyScore} from '../text/fuzzy.ts';
import {t} from '../text/messages.ts';
import type {Active} from './active.svelte.ts';

export interface Entry {
  readonly id: string;
  readonly group: string;
  readonly text: string;
  readonly icon?: string | undefined;
  readonly run?: number;
  readonly hint: string;
  act(): void;
}

const GROUPS = ['command', 'tag', 'run', 'page', 'setting'];
const INTERNAL = new Set(['hparams', 'layout']); // what writers leave for a page, not for people

export function paletteEntries(query: string, active: Active): Entry[] {
  const only = {'>': 'command', '#': 'tag', '@': 'run', ':': 'step'}[query[0] ?? ''];
  const text = only === undefined ? query : query.slice(1);
  if (only === 'step') {
    const step = Number(text.replaceAll(/\s/g, ''));
    return text === '' || !Number.isFinite(step)
      ? []
      : [
          {
            id: 'step',
            group: 'command',
            text: t('shell.palette.step', {step: text}),
            icon: 'flag',
            hint: '',
            act: () => {
              linkedStep.on = true;
              linkedStep.step = step;
              linkedStep.end = null;
            },
          },
        ];
  }
  const scored: {entry: Entry; score: number}[] = [];
  const put = (entry: Entry, bonus = 0): void => {
    if (only !== undefined && entry.group !== only) return;
    const score = fuzzyScore(text, entry.text);
    if (score !== null) scored.push({entry, score: score + bonus});
  };
  for (const command of commands.all) {
    const recent = preferences.recentCommands.indexOf(command.id);
    put(
      {
        id: command.id,
        group: command.group ?? 'command',
        text: command.text,
        icon: command.icon,
        hint: command.keys ?? command.hint ?? '',
        act: () => remember(command.id, command.run),
      },
      recent < 0 ? 0 : 20 - recent,
    );
  }
  if (text !== '' || only !== undefined) {
    for (const tag of tags.all.filter(one => !INTERNAL.has(one.kind) && !one.name.startsWith('_hparams_/')))
      put({
        id: `tag ${tag.kind} ${tag.name}`,
        group: 'tag',
        text: tag.name,
        icon: 'log',
        hint: tag.kind,
        act: () => openTag(active, tag.kind, tag.name),
      });
    for (const run of runs.all.slice(0, 20000))
      put({
        id: `run ${run.id}`,
        group: 'run',
        text: runs.nameOf(run),
        run: run.id,
        hint: run.state === 'live' ? t('shell.running') : '',
        act: () => showOnly([run]),
      });
  }
  scored.sort((a, b) => b.score - a.score);
  const out: Entry[] = [];
  // What is called exactly so comes before a command that only sounds like it.
  const exact = scored.find(({entry}) => entry.text.toLowerCase() === text.toLowerCase())?.entry.group;
  for (const group of exact === undefined ? GROUPS : [exact, ...GROUPS.filter(one => one !== exact)])
    out.push(
      ...scored
        .filter(({entry}) => entry.group === group)
        .slice(0, only === undefined ? 6 : 40)
        .map(({entry}) => entry),
    );
  return out;
}

function remember(id: string, run: () => void): void {
  preferences.recentCommands = [id, ...preferences.recentCommands.filter(one => one !== id)].slice(0, 8);
  run();
}
function openTag(active: Active, kind: string, name: string): void {
  const escaped = `^${name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`;
  const page = active.on.find(one => one.applies({kinds: new Set([kind]), plugins: new Set()}) && one.id !== 'files');
  if (page === undefined) return;
  tab.go(page.id);
  if (kind === 'scalar') slice<{filter: string}>('ts', {filter: ''}).filter = escaped;
}
