// Small vocabulary of the trace viewer.
import type {TrackChoice} from '../../../draw/trace/lanes.ts';

export const LABELS_PX = 180;
export type Mode = 'select' | 'pan' | 'zoom' | 'measure';
export const MODES: readonly Mode[] = ['select', 'pan', 'zoom', 'measure'];
export type FlowMode = 'selection' | 'all' | 'none';

/** A piece of time, and the tracks it is about (null: all). Times are of the window that all captures share. */
export interface Chosen {
  readonly t0: number;
  readonly t1: number;
  readonly tracks: readonly number[] | null;
}

export const EMPTY_CHOICE: TrackChoice = {pins: [], hide: [], fold: [], order: []};
export const toggled = (list: readonly number[], id: number): number[] => (list.includes(id) ? list.filter((one) => one !== id) : [...list, id]);

/** Labels that a search by name hits: what stays bright while the rest is dimmed. Null for a search of arguments. */
export function brightLabels(names: readonly string[], query: string): Uint8Array | null {
  if (query === '' || /^[\w .]+=/.test(query)) return null;
  let fits: (name: string) => boolean;
  const expression = /^\/(.+)\/$/.exec(query)?.[1];
  if (expression !== undefined) {
    try {
      const compiled = new RegExp(expression);
      fits = (name) => compiled.test(name);
    } catch {
      return null;
    }
  } else {
    const words = query.toLowerCase();
    fits = (name) => name.toLowerCase().includes(words);
  }
  return Uint8Array.from(names, (name) => (fits(name) ? 1 : 0));
}
