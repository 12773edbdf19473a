// The keyboard of the trace viewer: those of Chrome's viewer and of Perfetto where the two agree with each other.
import type {SliceDetail, SliceInfo} from '../../../data/trace.ts';
import {preferences} from '../../../state/preferences.svelte.ts';
import {MODES, type Chosen, type Mode} from './model.ts';
import type {TimeWindow} from './window.svelte.ts';

interface Host {
  readonly time: TimeWindow;
  detail(): SliceDetail | null;
  chosen(): Chosen | null;
  shift(): number; // of the capture the chosen slice is in
  pane(): {scrollBy(pixels: number): void} | undefined;
  setMode(mode: Mode): void;
  setChosen(chosen: Chosen | null): void;
  select(slice: number | null): void;
  show(slice: SliceInfo): void;
  next(by: 1 | -1): void;
  focusSearch(): void;
  toggleDrawer(): void;
  toggleHelp(): void;
  toggleGrid(): void;
  pin(track: number): void;
  note(t0: number, t1: number): void;
  clear(): void;
}

/** Key → message of what it does, for the help. */
export const KEYS: readonly (readonly [string, string])[] = [
  ['W S', 'zoom'],
  ['A D', 'pan'],
  ['Shift', 'faster'],
  ['← →', 'neighbour'],
  [', .', 'neighbour'],
  ['↑ ↓', 'scroll'],
  ['F', 'fit'],
  ['0 Z', 'whole'],
  ['[ ]', 'flow'],
  ['U', 'parent'],
  ['R', 'area'],
  ['M', 'mark'],
  ['Shift M', 'note'],
  ['Ctrl A', 'track'],
  ['Ctrl P', 'finder'],
  ['/', 'search'],
  ['N Shift N', 'hits'],
  ['P', 'pin'],
  ['1 2 3 4', 'modes'],
  ['Space', 'space'],
  ['Shift', 'shift'],
  ['Ctrl', 'add'],
  ['G', 'grid'],
  ['Q', 'drawer'],
  ['Esc', 'clear'],
  ['Ctrl wheel', 'wheel'],
  ['?', 'help'],
];

/** The letter on the key, or the one that a QWERTY keyboard has in its place: W, A, S and D stay under the hand. */
function letterOf(event: KeyboardEvent): string {
  const placed = /^Key([A-Z])$/.exec(event.code)?.[1];
  return preferences['x_trace_keys'] === 'place' && placed !== undefined
    ? placed.toLowerCase()
    : event.key.toLowerCase();
}

export function viewerKeys(host: Host): (event: KeyboardEvent) => void {
  const spanOf = (): readonly [number, number] | null => {
    const [range, slice] = [host.chosen(), host.detail()];
    if (range !== null) return [range.t0, range.t1];
    return slice === null ? null : [slice.begin - host.shift(), slice.begin + slice.dur - host.shift()];
  };
  const step = (to: number | undefined, otherwise: () => void): void => {
    const slice = host.detail();
    if (slice === null) otherwise();
    else if (to !== undefined) host.select(to);
  };
  const area = (): void => {
    const slice = host.detail();
    if (slice !== null)
      host.setChosen({
        t0: slice.begin - host.shift(),
        t1: slice.begin + slice.dur - host.shift(),
        tracks: null,
        also: [],
      });
  };
  return event => {
    const {time} = host;
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'a') {
      const slice = host.detail();
      event.preventDefault();
      return host.setChosen({
        t0: time.whole[0],
        t1: time.whole[1] + 1,
        tracks: slice === null ? null : [slice.track],
        also: [],
      });
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const fast = event.shiftKey ? 2.5 : 1;
    const mode = MODES[Number(event.key) - 1];
    const partner = (direction: 'to' | 'from'): void => {
      const flow = host.detail()?.flows.find(one => one.direction === direction);
      if (flow !== undefined) host.show(flow);
    };
    const actions: Readonly<Record<string, () => void>> = {
      w: () => time.zoom(0.7 ** fast, 0.5),
      s: () => time.zoom(1.4 ** fast, 0.5),
      a: () => time.pan(-0.2 * fast),
      d: () => time.pan(0.2 * fast),
      arrowleft: () => step(host.detail()?.previous, () => time.pan(-0.1 * fast)),
      arrowright: () => step(host.detail()?.next, () => time.pan(0.1 * fast)),
      ',': () => step(host.detail()?.previous, () => undefined),
      '.': () => step(host.detail()?.next, () => undefined),
      arrowup: () => host.pane()?.scrollBy(-60),
      arrowdown: () => host.pane()?.scrollBy(60),
      pageup: () => host.pane()?.scrollBy(-300),
      pagedown: () => host.pane()?.scrollBy(300),
      f: () => {
        const span = spanOf();
        if (span === null) time.reset();
        else time.fit(span[0], span[1]);
      },
      '0': () => time.reset(),
      z: () => time.reset(),
      home: () => time.reset(),
      m: () => {
        const span = spanOf();
        if (event.shiftKey && span !== null) host.note(span[0], span[1]);
        else area();
      },
      r: area,
      '[': () => partner('from'),
      ']': () => partner('to'),
      u: () => {
        const above = host.detail()?.parents[0];
        if (above !== undefined) host.show(above);
      },
      n: () => host.next(event.shiftKey ? -1 : 1),
      '/': () => host.focusSearch(),
      q: () => host.toggleDrawer(),
      g: () => host.toggleGrid(),
      '?': () => host.toggleHelp(),
      p: () => {
        const slice = host.detail();
        if (slice !== null) host.pin(slice.track);
      },
      escape: () => host.clear(),
    };
    const action =
      mode !== undefined && /^[1-4]$/.test(event.key) ? () => host.setMode(mode) : actions[letterOf(event)];
    if (action === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    action();
  };
}
