// Small vocabulary of the trace viewer.
import type {Area, Areas, TraceInfo} from '../../../data/trace.ts';
import type {TrackChoice} from '../../../draw/trace/lanes.ts';

export const LABELS_PX = 180;
export type Mode = 'select' | 'pan' | 'zoom' | 'measure';
export const MODES: readonly Mode[] = ['select', 'pan', 'zoom', 'measure'];

/** What is chosen: the newest area and those it was added to. Times are of the window that all captures share. */
export type Chosen = Areas;
export const areasIn = (chosen: Chosen | null): readonly Area[] =>
  chosen === null ? [] : [...chosen.also, {t0: chosen.t0, t1: chosen.t1, tracks: chosen.tracks}];
export const moved = (chosen: Chosen, by: number): Chosen => ({
  t0: chosen.t0 + by,
  t1: chosen.t1 + by,
  tracks: chosen.tracks,
  also: chosen.also.map(area => ({...area, t0: area.t0 + by, t1: area.t1 + by})),
});

export const EMPTY_CHOICE: TrackChoice = {pins: [], hide: [], fold: [], order: []};
export const toggled = <T>(list: readonly T[], id: T): T[] =>
  list.includes(id) ? list.filter(one => one !== id) : [...list, id];

/** The process each track belongs to: itself when it has none above it. */
export function processOf(tracks: TraceInfo['tracks']): readonly number[] {
  return tracks.map(track => {
    let at = track;
    for (let depth = 0; at.parent !== undefined && depth < 64; depth++) at = tracks[at.parent] ?? at;
    return at.id;
  });
}

/** Tracks that hold something, under their processes, as a person would list them. */
export function familiesOf(
  tracks: TraceInfo['tracks'],
): readonly {readonly process: TraceInfo['tracks'][number]; readonly tracks: TraceInfo['tracks']}[] {
  const roots = processOf(tracks);
  const filled = tracks.filter(track => track.slices > 0 || track.points > 0);
  return tracks
    .filter(track => roots[track.id] === track.id)
    .map(process => ({
      process,
      tracks: filled.filter(track => roots[track.id] === process.id && track.id !== process.id),
    }))
    .filter(family => family.tracks.length > 0 || filled.includes(family.process));
}

/** Labels that a search by name hits: what stays bright while the rest is dimmed. Null for a search of arguments. */
export function brightLabels(names: readonly string[], query: string): Uint8Array | null {
  if (query === '' || query.startsWith(':') || /^[\w .]+=/.test(query)) return null;
  let fits: (name: string) => boolean;
  const expression = /^\/(.+)\/$/.exec(query)?.[1];
  if (expression !== undefined) {
    try {
      const compiled = new RegExp(expression);
      fits = name => compiled.test(name);
    } catch {
      return null;
    }
  } else {
    const words = query.toLowerCase();
    fits = name => name.toLowerCase().includes(words);
  }
  return Uint8Array.from(names, name => (fits(name) ? 1 : 0));
}

/** Labels of categories that are not to be drawn; null when all are. */
export function skippedLabels(
  categories: readonly string[],
  category: readonly number[],
  without: readonly string[],
): Uint8Array | null {
  if (without.length === 0) return null;
  const off = new Set(without);
  return Uint8Array.from(category, id => (off.has(categories[id] ?? '') ? 1 : 0));
}
