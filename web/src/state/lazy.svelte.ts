// Code that the first paint does without (dialogs, inspector, table rows): fetched after it, so that
// it is here before anyone reaches for it.
import {afterFirstPaint} from './first-paint.svelte.ts';

const AGAIN_MS = 5000; // after a fetch that failed, while the server is away

export interface Lazy<T> {
  readonly now: T | null;
}

export function lazy<T>(load: () => Promise<T>): Lazy<T> {
  let now = $state.raw<T | null>(null);
  const begin = (): void =>
    void load().then(
      got => (now = got),
      () => setTimeout(begin, AGAIN_MS),
    );
  void afterFirstPaint().then(begin);
  return {
    get now() {
      return now;
    },
  };
}
