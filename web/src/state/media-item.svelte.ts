// What a card of images or sounds shows: the item at the step of the cursor, fetched when the card is near the view, and
// again when the server is back.
import {untrack} from 'svelte';
import type {MediaItem, Sample} from '../data/media.ts';
import type {TagCard} from './cards.ts';
import {onReopen} from './live.svelte.ts';
import {cursor, indexAt, samplesOf, sourceOf, type Source} from './media.svelte.ts';
import {problemOf, type Problem} from './problem.ts';

export interface CardItem {
  near: boolean; // set by the card
  readonly source: Source | undefined;
  readonly item: MediaItem | null;
  readonly sample: Sample | null;
  /** Why the item cannot be had. */
  readonly lost: Problem | null;
  /** Whether the tag has more than one sample a step. */
  readonly several: boolean;
  /** Grows when what failed should be tried again. */
  readonly tries: number;
}

interface Wishes {
  readonly card: () => TagCard;
  readonly kind: 'images' | 'audio'; // whose words a problem takes
  readonly bad: () => Problem | null; // why the card cannot show what it got
  readonly onsource: (source: Source) => void;
}

/** Called while a component is made: it lives as long as that does. */
export function createCardItem({card, kind, bad, onsource}: Wishes): CardItem {
  let near = $state(false);
  let source = $state.raw<Source | undefined>();
  let item = $state.raw<MediaItem | null>(null);
  let lost = $state.raw<Problem | null>(null);
  let tries = $state(0);
  const index = $derived(source?.list ? indexAt(source.list.steps, cursor.step) : -1);
  const sample = $derived(item?.samples[card().sample] ?? null);

  $effect(() => {
    if (!near || source !== undefined) return;
    untrack(() => {
      source = sourceOf(card().run, card().tag);
      onsource(source);
    });
  });
  $effect(() => {
    void [source?.list, tries];
    if (!near || source === undefined || index < 0) return;
    let stale = false;
    source.item(index).then(
      found => {
        if (!stale) [item, lost] = [found, null];
      },
      (failure: unknown) => {
        if (!stale) lost = problemOf(failure, kind);
      },
    );
    return () => void (stale = true);
  });
  $effect(() =>
    onReopen(() => {
      if (lost?.away || bad()?.away) tries++;
    }),
  );
  return {
    get near() {
      return near;
    },
    set near(now) {
      near = now;
    },
    get source() {
      return source;
    },
    get item() {
      return item;
    },
    get sample() {
      return sample;
    },
    get lost() {
      return lost;
    },
    get several() {
      return samplesOf(card().tag) > 1;
    },
    get tries() {
      return tries;
    },
  };
}
