// The first paint comes first. What the page also wants to know is asked for when data have been painted, or
// soon after the shell is ready when the dashboard in view paints none; what it also wants to show is put up
// then, a few parts a frame.
const PATIENCE_MS = 400;
const UNSEEN_MS = 100;
const PARTS_A_FRAME = 2;
const MOST_FRAMES = 20;

let tell: () => void = () => {};
const told = new Promise<void>(resolve => (tell = resolve));
let parts = $state(1);
let begun = false;
let standIn: () => void = () => {};

export const firstPaint = {
  /** Whether the first paint has been on the screen. */
  get shown(): boolean {
    return parts > 1;
  },
  /** How many parts of a kind (cards) may stand by now; without end when the page is complete. */
  get parts(): number {
    return parts;
  },
};

function grow(frame: number): void {
  parts = frame < MOST_FRAMES ? parts + PARTS_A_FRAME : Infinity;
  if (parts < Infinity) requestAnimationFrame(() => grow(frame + 1));
}

/** What was painted now is on the screen: two frames later, or a moment later in a window that draws none. */
export function onScreen(): Promise<void> {
  return new Promise(resolve => {
    requestAnimationFrame(() => requestAnimationFrame(() => resolve()));
    setTimeout(resolve, UNSEEN_MS);
  });
}

/** A placeholder stands where the first chart will be; `remove` is called as soon as the chart itself is painted. */
export function setPlaceholder(remove: () => void): void {
  standIn = remove;
}

/** Data have been painted. They are on the screen two frames later: the rest begins then. */
export function firstPaintDone(): void {
  if (begun) return;
  begun = true;
  standIn();
  const begin = (): void => {
    tell();
    grow(0);
  };
  requestAnimationFrame(() =>
    requestAnimationFrame(() => {
      if ('requestIdleCallback' in globalThis) requestIdleCallback(begin, {timeout: PATIENCE_MS / 2});
      else setTimeout(begin);
    }),
  );
}

/** The shell is ready: nobody waits longer than a moment from here. */
export function shellReady(): void {
  setTimeout(firstPaintDone, PATIENCE_MS);
}

export function afterFirstPaint(): Promise<void> {
  return told;
}
