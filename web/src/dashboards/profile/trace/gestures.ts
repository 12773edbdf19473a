// What a pointer does on the lanes, by mode: select draws a box over time and lanes, pan moves, zoom goes into what
// was drawn, measure spans a time and snaps to the edges of slices. Shift selects for the moment, Space pans, Ctrl
// adds to what is chosen; the ends of the newest area are handles.
import type {Area} from '../../../data/trace.ts';
import {areasIn, type Chosen, type Mode} from './model.ts';
import type {TimeWindow} from './window.svelte.ts';

interface Place {
  readonly x: number;
  readonly y: number;
}
interface Host {
  time(): TimeWindow;
  mode(): Mode;
  width(): number;
  scroll(): number;
  scrollTo(y: number): void;
  tracksBetween(a: number, b: number): readonly number[];
  /** Gives the ends of the slice under a pixel. */
  edges(): ((x: number, y: number) => readonly [number, number] | null) | null;
  current(): Chosen | null;
  chosen(range: Chosen | null): void;
  tap(at: Place, adds: boolean): void;
}
interface Drag extends Place {
  readonly mode: Mode | 'handle';
  readonly t0: number;
  readonly t1: number;
  readonly scroll: number;
  readonly also: readonly Area[]; // what the new area is added to
  readonly adds: boolean;
  moved: boolean;
}

const STILL = 3; // px a click may wander
const SNAP = 8;
const GRIP = 4;

export interface Gestures {
  down(event: PointerEvent, at: Place): void;
  move(at: Place): void;
  up(at: Place): void;
  wheel(event: WheelEvent, at: Place): void;
  busy(): boolean;
  /** Whether a press here would take hold of an end of the chosen area. */
  grips(x: number): boolean;
  /** Whether Space is held. */
  space(held: boolean): void;
}

export function createGestures(host: Host): Gestures {
  let spaceHeld = false;
  let drag: Drag | null = null;
  const timeAt = (x: number): number => host.time().t0 + (x / host.width()) * host.time().span;
  const xOf = (time: number): number => ((time - host.time().t0) / host.time().span) * host.width();

  /** The nearest edge of the slice under the pointer, if it is close. */
  function snapped(at: Place): number {
    const time = timeAt(at.x);
    const ends = host.edges()?.(at.x, at.y) ?? null;
    if (ends === null) return time;
    const reach = (SNAP / host.width()) * host.time().span;
    const nearest = Math.abs(ends[0] - time) < Math.abs(ends[1] - time) ? ends[0] : ends[1];
    return Math.abs(nearest - time) <= reach ? nearest : time;
  }
  /** The end of the chosen area that stays when the one under the pointer is dragged. */
  function gripped(x: number): number | null {
    const now = host.current();
    if (now === null || (host.mode() !== 'select' && host.mode() !== 'measure')) return null;
    if (Math.abs(x - xOf(now.t0)) <= GRIP) return now.t1;
    return Math.abs(x - xOf(now.t1)) <= GRIP ? now.t0 : null;
  }
  let anchor = 0;
  return {
    down(event, at) {
      if (event.button > 1) return;
      const time = host.time();
      const adds = event.ctrlKey || event.metaKey;
      const kept = event.button === 0 && !spaceHeld && !adds ? gripped(at.x) : null;
      const mode =
        kept !== null ? 'handle' : event.button === 1 || spaceHeld ? 'pan' : event.shiftKey ? 'select' : host.mode();
      const now = host.current();
      const also =
        mode === 'handle' ? (now?.also ?? []) : adds && (mode === 'select' || mode === 'measure') ? areasIn(now) : [];
      drag = {...at, mode, t0: time.t0, t1: time.t1, scroll: host.scroll(), also, adds, moved: false};
      anchor = kept ?? (mode === 'measure' ? snapped(at) : timeAt(at.x));
    },
    move(at) {
      if (drag === null) return;
      if (!drag.moved && Math.abs(drag.x - at.x) < STILL && Math.abs(drag.y - at.y) < STILL) return;
      drag.moved = true;
      if (drag.mode === 'pan') {
        const by = ((drag.x - at.x) / host.width()) * (drag.t1 - drag.t0);
        const time = host.time();
        [time.t0, time.t1] = [drag.t0 + by, drag.t1 + by];
        host.scrollTo(drag.scroll + drag.y - at.y);
        return;
      }
      const end = drag.mode === 'measure' || drag.mode === 'handle' ? snapped(at) : timeAt(at.x);
      const boxed = drag.mode === 'select' && Math.abs(at.y - drag.y) > 4 ? host.tracksBetween(drag.y, at.y) : [];
      const tracks = drag.mode === 'handle' ? (host.current()?.tracks ?? null) : boxed.length === 0 ? null : boxed;
      host.chosen({t0: Math.min(anchor, end), t1: Math.max(anchor, end), tracks, also: drag.also});
    },
    up(at) {
      const was = drag;
      drag = null;
      if (was === null) return;
      if (!was.moved) return host.tap(at, was.adds);
      if (was.mode === 'zoom') {
        const [a, b] = [Math.min(anchor, timeAt(at.x)), Math.max(anchor, timeAt(at.x))];
        host.chosen(null);
        host.time().fit(a, b, 0);
      }
    },
    wheel(event, at) {
      event.preventDefault();
      if (event.ctrlKey || event.metaKey || event.altKey)
        host.time().zoom(event.deltaY > 0 ? 1.25 : 0.8, at.x / host.width());
      else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
        host.time().pan((event.deltaX || event.deltaY) / host.width());
      else host.scrollTo(host.scroll() + event.deltaY);
    },
    busy: () => drag?.moved === true,
    grips: x => gripped(x) !== null,
    space: held => void (spaceHeld = held),
  };
}
