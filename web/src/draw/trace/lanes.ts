// Where the tracks of a trace stand on the page: processes as headers, their threads and counters below
// them, each as tall as its depth. Pure geometry over what the server lists.

export interface LaneTrack {
  readonly id: number;
  readonly name: string;
  readonly kind: string;
  readonly parent?: number;
  readonly order: number;
  readonly slices: number;
  readonly points: number;
  readonly depth: number;
}

export interface Lane {
  readonly track: number;
  readonly kind: 'header' | 'slices' | 'counter';
  readonly name: string;
  readonly top: number;
  readonly height: number;
  readonly rows: number; // of slices
  readonly folded: boolean;
  readonly inner: readonly number[]; // of a folded process: the tracks its line sums up
}

/** What a person changed about the tracks. */
export interface TrackChoice {
  readonly pins: readonly number[];
  readonly hide: readonly number[];
  readonly fold: readonly number[];
  readonly order: readonly number[]; // of tracks moved by hand
  readonly only?: ReadonlySet<number> | null; // tracks that a filter leaves; null: all
}

export const NO_CHOICE: TrackChoice = {pins: [], hide: [], fold: [], order: []};
export const ROW = 17;
export const HEADER = 22;
const PAD = 5;
const COUNTER = 40;
const MOST_ROWS = 64;

const isEmpty = (track: LaneTrack): boolean => track.slices === 0 && track.points === 0;

function siblingsOf(tracks: readonly LaneTrack[], order: readonly number[]): Map<number | undefined, LaneTrack[]> {
  const place = new Map(order.map((id, i) => [id, i]));
  const families = new Map<number | undefined, LaneTrack[]>();
  for (const track of tracks) {
    const family = families.get(track.parent);
    if (family === undefined) families.set(track.parent, [track]);
    else family.push(track);
  }
  for (const family of families.values()) {
    family.sort((a, b) => {
      const [i, j] = [place.get(a.id), place.get(b.id)];
      return i !== undefined && j !== undefined ? i - j : a.order - b.order || a.id - b.id;
    });
  }
  return families;
}

/** Lanes from top to bottom; folded processes and tracks take one line. */
export function layLanes(tracks: readonly LaneTrack[], choice: TrackChoice = NO_CHOICE): Lane[] {
  const [folded, hidden, pinned] = [new Set(choice.fold), new Set(choice.hide), new Set(choice.pins)];
  const families = siblingsOf(tracks, choice.order);
  const only = choice.only ?? null;
  const fits = (track: LaneTrack): boolean => only === null || only.has(track.id);
  const lanes: Lane[] = [];
  let top = 0;
  const push = (lane: Omit<Lane, 'top'>): void => {
    lanes.push({...lane, top});
    top += lane.height;
  };
  const add = (track: LaneTrack): void => {
    if (hidden.has(track.id) || isEmpty(track) || !fits(track)) return;
    if (track.points > 0)
      push({track: track.id, kind: 'counter', name: track.name, height: COUNTER, rows: 0, folded: false, inner: []});
    if (track.slices === 0) return;
    const isFolded = folded.has(track.id);
    const rows = isFolded ? 1 : Math.min(MOST_ROWS, Math.max(1, track.depth));
    push({
      track: track.id,
      kind: 'slices',
      name: track.name,
      height: rows * ROW + PAD,
      rows,
      folded: isFolded,
      inner: [],
    });
  };
  const all = new Map(tracks.map(track => [track.id, track]));
  for (const id of choice.pins) {
    const track = all.get(id);
    if (track !== undefined) add(track);
  }
  for (const root of families.get(undefined) ?? []) {
    const inner = (families.get(root.id) ?? []).filter(
      track => !isEmpty(track) && !pinned.has(track.id) && !hidden.has(track.id) && fits(track),
    );
    if (hidden.has(root.id) || (inner.length === 0 && (isEmpty(root) || !fits(root)))) continue;
    const isFolded = folded.has(root.id);
    const busy = isFolded ? [root, ...inner].filter(track => track.slices > 0).map(track => track.id) : [];
    push({track: root.id, kind: 'header', name: root.name, height: HEADER, rows: 0, folded: isFolded, inner: busy});
    if (isFolded) continue;
    if (!isEmpty(root) && !pinned.has(root.id)) add(root);
    for (const track of inner) add(track);
  }
  return lanes;
}

/** The order after a track has moved by so many places among its siblings that are shown. */
export function moveTrack(
  tracks: readonly LaneTrack[],
  choice: TrackChoice,
  id: number,
  by: number,
): readonly number[] {
  const track = tracks.find(one => one.id === id);
  if (track === undefined) return choice.order;
  const all = siblingsOf(tracks, choice.order).get(track.parent) ?? [];
  const filled = new Set(tracks.filter(one => !isEmpty(one)).flatMap(one => [one.id, one.parent ?? one.id]));
  const shown = all.filter(one => filled.has(one.id)).map(one => one.id);
  const from = shown.indexOf(id);
  const to = Math.max(0, Math.min(shown.length - 1, from + by));
  shown.splice(from, 1);
  shown.splice(to, 0, id);
  const rest = all.map(one => one.id).filter(one => !shown.includes(one));
  const family = new Set(all.map(one => one.id));
  return [...choice.order.filter(one => !family.has(one)), ...shown, ...rest];
}

/** Tracks whose name, or whose process's name, holds the words (or fits /regex/); null when nothing is asked. */
export function tracksNamed(tracks: readonly LaneTrack[], text: string): ReadonlySet<number> | null {
  const wanted = text.trim();
  if (wanted === '') return null;
  let fits = (name: string): boolean => name.toLowerCase().includes(wanted.toLowerCase());
  const expression = /^\/(.+)\/$/.exec(wanted)?.[1];
  if (expression !== undefined) {
    try {
      const compiled = new RegExp(expression, 'i');
      fits = name => compiled.test(name);
    } catch {
      // half typed: as plain words
    }
  }
  const nameOf = new Map(tracks.map(track => [track.id, track.name]));
  return new Set(
    tracks.filter(track => fits(track.name) || fits(nameOf.get(track.parent ?? -1) ?? '')).map(track => track.id),
  );
}

/** The lane under a y position, or null. */
export function laneAt(lanes: readonly Lane[], y: number): Lane | null {
  let low = 0;
  let high = lanes.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (lanes[middle]!.top + lanes[middle]!.height <= y) low = middle + 1;
    else high = middle;
  }
  const lane = lanes[low];
  return lane !== undefined && lane.top <= y ? lane : null;
}

/** The lane that shows a slice of a track: its own, or the header of its folded process. */
export function laneOf(lanes: readonly Lane[], track: number): Lane | null {
  return (
    lanes.find(lane => lane.track === track && lane.kind === 'slices') ??
    lanes.find(lane => lane.inner.includes(track)) ??
    null
  );
}
