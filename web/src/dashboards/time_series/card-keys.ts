// The keys of a chart that has the focus.
import {own, setOwn, setZoom, settingsOf} from './settings.svelte.ts';

export interface CardKeys {
  readonly key: string; // of the card
  full(): void;
  pin(): void;
  settings(): void;
  export(): void;
}

/** Whether the key was one of the chart's. */
export function cardKeyPressed(event: KeyboardEvent, card: CardKeys): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  const {key} = card;
  const yscale = settingsOf(key).yscale === 'log' ? 'linear' : 'log';
  const actions: Readonly<Record<string, () => void>> = {
    f: card.full,
    '.': card.pin,
    l: () => setOwn(key, {set: {...own(key).set, yscale}}),
    s: card.settings,
    t: () => setOwn(key, {table: own(key).table !== true}),
    e: card.export,
    0: () => setZoom(key, null, null),
  };
  const act = actions[event.key];
  if (act === undefined) return false;
  act();
  event.stopPropagation();
  return true;
}
