// Painting in slices: a few milliseconds a frame over all charts, so that a thousand curves never
// block a pointer move. The chart under the pointer comes first; while it is being zoomed, charts that cost
// much wait for a moment of rest. What lies over the data goes the same way: at once for the chart under the
// pointer, the others a few a frame.

const BUDGET_MS = 9;
const REST_MS = 100;
const OTHERS_PER_FRAME = 3;
interface Slice {
  readonly work: () => boolean;
  readonly heavy: boolean; // waits while another chart is in the user's hands
}
const queue: Slice[] = [];
let handled = -Infinity; // when a chart in the user's hands was drawn last
const front = new Set<() => void>();
const others = new Set<() => void>();
let asked = false;

function ask(): void {
  if (asked) return;
  asked = true;
  requestAnimationFrame(run);
}

/** Says that the user's hand is on a chart right now. */
export function handle(): void {
  handled = performance.now();
}

/** Calls `work` until it returns true (done), a few times a frame; `first` = before all others. Returns the cancel function. */
export function enqueue(work: () => boolean, first = false, heavy = false): () => void {
  const slice: Slice = {work, heavy: heavy && !first};
  if (first) queue.unshift(slice);
  else queue.push(slice);
  ask();
  return () => {
    const at = queue.indexOf(slice);
    if (at >= 0) queue.splice(at, 1);
  };
}

/** Calls `paint` once in one of the next frames; the same function asked twice is called once. */
export function enqueueOverlay(paint: () => void, first: boolean): void {
  if (first) others.delete(paint);
  if (first) front.add(paint);
  else if (!front.has(paint)) others.add(paint);
  ask();
}

export function forgetOverlay(paint: () => void): void {
  front.delete(paint);
  others.delete(paint);
}

function run(): void {
  const end = performance.now() + BUDGET_MS;
  for (const paint of front) paint();
  front.clear();
  let left = OTHERS_PER_FRAME;
  for (const paint of others) {
    if (left-- === 0) break;
    others.delete(paint);
    paint();
  }
  const busy = performance.now() - handled < REST_MS;
  do {
    const slice = busy ? queue.find(one => !one.heavy) : queue[0];
    if (slice === undefined) break;
    if (slice.work()) {
      const at = queue.indexOf(slice);
      if (at >= 0) queue.splice(at, 1);
    }
  } while (performance.now() < end);
  asked = queue.length + front.size + others.size > 0;
  if (asked) requestAnimationFrame(run);
}
