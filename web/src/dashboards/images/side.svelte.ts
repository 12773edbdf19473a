// One side of a comparison: a run and a choice of step → the picture there, decoded. Reactive: follows the
// cursor and new data; while the next picture loads the old one stays.
import type {MediaItem, Sample} from '../../data/media.ts';
import type {Run, Tag} from '../../data/types.ts';
import {cursor, indexAt, sourceOf, type Source} from '../../state/media.svelte.ts';
import {chosenIndex, pixels} from './view.svelte.ts';

export interface Side {
  readonly run: Run | undefined;
  readonly source: Source | undefined;
  readonly item: MediaItem | null;
  readonly sample: Sample | null;
  readonly picture: ImageData | null;
  readonly problem: string;
}

/** Call while a component is set up. */
export function createSide(run: () => Run | undefined, tag: () => Tag | undefined, sample: () => number, choice: () => string): Side {
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
  let problem = $state('');
  const shown = $derived(item?.samples[sample()] ?? null);

  $effect(() => {
    if (source === undefined || index < 0) return void ([item, picture] = [null, null]);
    let stale = false;
    source.item(index).then((found) => {
      if (!stale) [item, problem] = [found, ''];
    }, (failure: unknown) => {
      if (!stale) problem = failure instanceof Error ? failure.message : String(failure);
    });
    return () => void (stale = true);
  });
  $effect(() => {
    if (shown === null) return void (picture = null);
    let stale = false;
    pixels(shown.ref).then((found) => {
      if (stale) return;
      picture = found;
      problem = found === null ? 'undecodable' : '';
    }, (failure: unknown) => {
      if (!stale) problem = failure instanceof Error ? failure.message : String(failure);
    });
    return () => void (stale = true);
  });
  return {
    get run() { return run(); },
    get source() { return source; },
    get item() { return item; },
    get sample() { return shown; },
    get picture() { return picture; },
    get problem() { return problem; },
  };
}
