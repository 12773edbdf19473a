// One side of a comparison: a run and a choice of step → the picture there, decoded. Reactive: follows the
// cursor and new data; while the next picture loads the old one stays.
import type {MediaItem, Sample} from '../../data/media.ts';
import type {Run, Tag} from '../../data/types.ts';
import {onReopen} from '../../state/live.svelte.ts';
import {cursor, indexAt, sourceOf, type Source} from '../../state/media.svelte.ts';
import {problemOf, said, type Problem} from '../../state/problem.ts';
import {t} from '../../text/messages.ts';
import {chosenIndex, pixels} from './view.svelte.ts';

export interface Side {
  readonly run: Run | undefined;
  readonly source: Source | undefined;
  readonly item: MediaItem | null;
  readonly sample: Sample | null;
  readonly picture: ImageData | null;
  readonly problem: Problem | null;
}

/** Call while a component is set up. */
export function createSide(
  run: () => Run | undefined,
  tag: () => Tag | undefined,
  sample: () => number,
  choice: () => string,
): Side {
  const source = $derived.by(() => {
    const [r, g] = [run(), tag()];
    return r === undefined || g === undefined ? undefined : sourceOf(r, g);
  });
  const index = $derived.by(() => {
    const list = source?.list;
    return list ? chosenIndex(choice(), list.steps, indexAt(list.steps, cursor.step)) : -1;
  });
  let item = $state.raw<MediaItem | null>(null);
  let picture = $state.raw<ImageData | null>(null);
  let lost = $state.raw<Problem | null>(null); // of the item
  let bad = $state.raw<Problem | null>(null); // of its pixels
  let tries = $state(0);
  const shown = $derived(item?.samples[sample()] ?? null);
  const problem = $derived.by(() => {
    if (source?.error) return said(source.error);
    if (lost !== null) return lost;
    if (item === null || shown !== null) return bad;
    return said(
      item.damage ||
        (item.samples.length === 0 ? t('images.empty_batch') : t('images.fewer', {n: item.samples.length})),
    );
  });
  $effect(() =>
    onReopen(() => {
      if (lost?.away || bad?.away) tries++;
    }),
  );

  $effect(() => {
    void [source?.list, tries];
    if (source === undefined || index < 0) return void ([item, picture, lost] = [null, null, null]);
    let stale = false;
    source.item(index).then(
      found => {
        if (!stale) [item, lost] = [found, null];
      },
      (failure: unknown) => {
        if (!stale) lost = problemOf(failure, 'images');
      },
    );
    return () => void (stale = true);
  });
  $effect(() => {
    void tries;
    if (shown === null) return void ([picture, bad] = [null, null]);
    let stale = false;
    pixels(shown.ref).then(
      found => {
        if (stale) return;
        [picture, bad] = [found, null];
      },
      (failure: unknown) => {
        if (!stale) [picture, bad] = [null, problemOf(failure, 'images')];
      },
    );
    return () => void (stale = true);
  });
  return {
    get run() {
      return run();
    },
    get source() {
      return source;
    },
    get item() {
      return item;
    },
    get sample() {
      return shown;
    },
    get picture() {
      return picture;
    },
    get problem() {
      return problem;
    },
  };
}
