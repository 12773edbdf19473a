// The pictures of a memory snapshot as numbers: what of a timeline lies where, bands of single allocations, calls.
import type {Report} from '../../../data/profile.ts';

export interface Band {
  readonly bytes: number;
  readonly begin_ms: number;
  readonly end_ms: number;
  readonly address: string;
  readonly older: boolean;
  readonly alive: boolean;
  readonly site: string;
  readonly stack?: string;
  readonly path: readonly number[]; // time, offset, time, offset …: from each time on it lies at the offset
}

export interface Call {
  readonly name: string;
  readonly parent: number;
  readonly bytes: number;
}

/** Where everything lay at one time. */
export interface Moment {
  readonly time_ms: number;
  readonly is_peak: boolean;
  readonly more_segments: number;
  readonly segments: readonly {readonly address: string; readonly bytes: number}[];
  readonly blocks: readonly {
    readonly segment: number;
    readonly offset: number;
    readonly bytes: number;
    readonly site: string;
  }[];
}

export interface Snapshot {
  readonly bands: readonly Band[];
  readonly flame: readonly Call[];
  readonly moment?: Moment;
}

export function snapshotOf(report: Report): Snapshot {
  const document = (report.document ?? {}) as Partial<Snapshot>;
  return {
    bands: document.bands ?? [],
    flame: document.flame ?? [],
    ...(document.moment === undefined ? {} : {moment: document.moment}),
  };
}

/** Where a band lies at a time; null before and after it. */
export function offsetAt(band: Band, time: number): number | null {
  if (time < band.begin_ms || (time > band.end_ms && !band.alive)) return null;
  let found: number | null = null;
  for (let i = 0; i + 1 < band.path.length && band.path[i]! <= time; i += 2) found = band.path[i + 1]!;
  return found;
}

/** The band under a point, the last drawn first. */
export function bandAt(bands: readonly Band[], time: number, bytes: number): number | null {
  for (let i = bands.length - 1; i >= 0; i--) {
    const offset = offsetAt(bands[i]!, time);
    if (offset !== null && bytes >= offset && bytes < offset + bands[i]!.bytes) return i;
  }
  return null;
}

export interface CallBox {
  readonly call: number;
  readonly depth: number;
  readonly x: number; // of 1
  readonly w: number;
}

/** Calls as boxes under the call at the root, widest first; those below a thousandth are left out. */
export function callBoxes(calls: readonly Call[], root: number): readonly CallBox[] {
  const whole = calls[root]?.bytes ?? 0;
  if (whole <= 0) return [];
  const inner = new Map<number, number[]>();
  calls.forEach((call, i) => {
    if (i === 0) return; // the root is its own parent
    const list = inner.get(call.parent);
    if (list === undefined) inner.set(call.parent, [i]);
    else list.push(i);
  });
  const boxes: CallBox[] = [];
  const open: CallBox[] = [{call: root, depth: 0, x: 0, w: 1}];
  for (let box = open.pop(); box !== undefined; box = open.pop()) {
    boxes.push(box);
    let x = box.x;
    const below = (inner.get(box.call) ?? []).toSorted((a, b) => calls[b]!.bytes - calls[a]!.bytes);
    for (const call of below) {
      const w = calls[call]!.bytes / whole;
      if (w >= 0.001) open.push({call, depth: box.depth + 1, x, w});
      x += w;
    }
  }
  return boxes;
}

/** `path/to/file.py(12): function` without the folders. */
export const brief = (frame: string): string => frame.replace(/^.*\/(?=[^/]*\()/, '');
