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
  readonly note: string;
  readonly top: number;
  readonly height: number;
  readonly rows: number; // of slices
  readonly folded: boolean;
}

export const ROW = 17;
export const HEADER = 22;
const PAD = 5;
const COUNTER = 40;
const MOST_ROWS = 24;

/** Lanes from top to bottom; `folded` processes and tracks take one line. */
export function layLanes(tracks: readonly LaneTrack[], folded: ReadonlySet<number>, hidden: ReadonlySet<number>, pinned: readonly number[]): Lane[] {
  const children = new Map<number, LaneTrack[]>();
  const roots: LaneTrack[] = [];
  for (const track of tracks) {
    if (track.parent === undefined) roots.push(track);
    else children.set(track.parent, [...(children.get(track.parent) ?? []), track]);
  }
  const byOrder = (a: LaneTrack, b: LaneTrack): number => a.order - b.order || a.id - b.id;
  const lanes: Lane[] = [];
  let top = 0;
  const push = (lane: Omit<Lane, 'top'>): void => {
    lanes.push({...lane, top});
    top += lane.height;
  };
  const add = (track: LaneTrack): void => {
    if (hidden.has(track.id) || (track.slices === 0 && track.points === 0)) return;
    if (track.points > 0) push({track: track.id, kind: 'counter', name: track.name, note: '', height: COUNTER, rows: 0, folded: false});
    if (track.slices === 0) return;
    const isFolded = folded.has(track.id);
    const rows = isFolded ? 1 : Math.min(MOST_ROWS, Math.max(1, track.depth));
    push({track: track.id, kind: 'slices', name: track.name, note: '', height: rows * ROW + PAD, rows, folded: isFolded});
  };
  const all = new Map(tracks.map((track) => [track.id, track]));
  for (const id of pinned) {
    const track = all.get(id);
    if (track !== undefined) add(track);
  }
  for (const root of roots.sort(byOrder)) {
    const inner = (children.get(root.id) ?? []).filter((track) => (track.slices > 0 || track.points > 0) && !pinned.includes(track.id)).sort(byOrder);
    if (hidden.has(root.id) || (inner.length === 0 && root.slices === 0 && root.points === 0)) continue;
    const isFolded = folded.has(root.id);
    push({track: root.id, kind: 'header', name: root.name, note: '', height: HEADER, rows: 0, folded: isFolded});
    if (isFolded) continue;
    if (root.slices > 0 || root.points > 0) add(root);
    for (const track of inner) add(track);
  }
  return lanes;
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
