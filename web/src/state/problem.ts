// Why a picture or a sound is not shown, in words, and what can be done: save its bytes, wait for the server.
import {ApiError} from '../data/client.ts';
import {Unshowable} from '../data/media.ts';
import {t} from '../text/messages.ts';

export interface Problem {
  readonly text: string;
  readonly bytes: Blob | null; // what could be saved
  readonly away: boolean; // the server did not answer: worth another try when it is back
}

export const said = (text: string): Problem => ({text, bytes: null, away: false});

/** `page` is where the words are: `<page>.problem.empty`, `.unknown`, `.broken`, `.away`. */
export function problemOf(failure: unknown, page: 'images' | 'audio'): Problem {
  if (failure instanceof Unshowable) {
    return {
      text: t(`${page}.problem.${failure.kind}`, {mime: failure.bytes.type}),
      bytes: failure.bytes.size > 0 ? failure.bytes : null,
      away: false,
    };
  }
  if (failure instanceof ApiError && failure.status === 0)
    return {text: t(`${page}.problem.away`), bytes: null, away: true};
  return said(failure instanceof Error ? failure.message : String(failure));
}
