// Painting in slices: a few milliseconds a frame over all charts, so that a thousand curves never
// block a pointer move.

const BUDGET_MS = 9;
const queue: (() => boolean)[] = [];
let asked = false;

/** Calls `slice` until it returns true (done), a few times a frame. Returns the cancel function. */
export function enqueue(slice: () => boolean): () => void {
  queue.push(slice);
  if (!asked) {
    asked = true;
    requestAnimationFrame(run);
  }
  return () => {
    const at = queue.indexOf(slice);
    if (at >= 0) queue.splice(at, 1);
  };
}

function run(): void {
  const end = performance.now() + BUDGET_MS;
  while (queue.length > 0 && performance.now() < end) {
    const slice = queue[0]!;
    if (slice() && queue[0] === slice) queue.shift();
  }
  asked = queue.length > 0;
  if (asked) requestAnimationFrame(run);
}
