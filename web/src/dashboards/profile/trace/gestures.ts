// What a pointer does on the lanes, by mode: select draws a box over time and lanes, pan moves, zoom goes into what
// was drawn, measure spans a time and snaps to the edges of slices. Shift selects for the moment, Space pans.
import type {Chosen, Mode} from './model.ts';
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
  chosen(range: Chosen | null): void;
  tap(x: number, y: number): void;
}
interface Drag extends Place {
  readonly mode: Mode;
  readonly t0: number;
  readonly t1: number;
  readonly scroll: number;
  moved: boolean;
}

const STILL = 3; // px a click may wander
const SNAP = 8;

export function createGestures(host: Host): {
  down(event: PointerEvent, at: Place): void;
  move(at: Place): void;
  up(at: Place): void;
  wheel(event: WheelEvent, at: Place): void;
  busy(): boolean;
  /** Whether Space is held. */
  space(held: boolean): void;
} {
  let spaceHeld = false;
  let drag: Drag | null = null;
  const timeAt = (x: number): number => host.time().t0 + (x / host.width()) * host.time().span;

  /** The nearest edge of the slice under the pointer, if it is close. */
  function snapped(at: Place): number {
    const time = timeAt(at.x);
    const ends = host.edges()?.(at.x, at.y) ?? null;
    if (ends === null) return time;
    const reach = (SNAP / host.width()) * host.time().span;
    const nearest = Math.abs(ends[0] - time) < Math.abs(ends[1] - time) ? ends[0] : ends[1];
    return Math.abs(nearest - time) <= reach ? nearest : time;
  }
  let anchor = 0;
  return {
    down(event, at) {
      if (event.button > 1) return;
      const time = host.time();
      const mode: Mode = event.button === 1 || spaceHeld ? 'pan' : event.shiftKey ? 'select' : host.mode();
      drag = {...at, mode, t0: time.t0, t1: time.t1, scroll: host.scroll(), moved: false};
      anchor = mode === 'measure' ? snapped(at) : timeAt(at.x);
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
      const end = drag.mode === 'measure' ? snapped(at) : timeAt(at.x);
      const tracks = drag.mode === 'select' && Math.abs(at.y - drag.y) > 4 ? host.tracksBetween(drag.y, at.y) : null;
      host.chosen({t0: Math.min(anchor, end), t1: Math.max(anchor, end), tracks: tracks !== null && tracks.length === 0 ? null : tracks});
    },
    up(at) {
      const was = drag;
      drag = null;
      if (was === null) return;
      if (!was.moved) return host.tap(at.x, at.y);
      if (was.mode === 'zoom') {
        const [a, b] = [Math.min(anchor, timeAt(at.x)), Math.max(anchor, timeAt(at.x))];
        host.chosen(null);
        host.time().fit(a, b, 0);
      }
    },
    wheel(event, at) {
      event.preventDefault();
      if (event.ctrlKey || event.metaKey || event.altKey) host.time().zoom(event.deltaY > 0 ? 1.25 : 0.8, at.x / host.width());
      else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) host.time().pan((event.deltaX || event.deltaY) / host.width());
      else host.scrollTo(host.scroll() + event.deltaY);
    },
    busy: () => drag?.moved === true,
    space: (held) => void (spaceHeld = held),
  };
}
