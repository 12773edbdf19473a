// Code that the first picture does without (dialogs, inspector, table rows): fetched when the picture stands, so that
// it is here before anyone reaches for it.
import {afterPicture} from './picture.svelte.ts';

const AGAIN_MS = 5000; // after a fetch that failed, while the server is away

export interface Later<T> {
  readonly now: T | null;
}

export function later<T>(load: () => Promise<T>): Later<T> {
  let now = $state.raw<T | null>(null);
  const begin = (): void =>
    void load().then(
      got => (now = got),
      () => setTimeout(begin, AGAIN_MS),
    );
  void afterPicture().then(begin);
  return {
    get now() {
      return now;
    },
  };
}
