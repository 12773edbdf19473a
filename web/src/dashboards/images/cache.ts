// Decoded pictures, kept by their size in memory and not by their number: one of 8000 × 8000 takes 256 MB.

interface Sized {
  readonly width: number;
  readonly height: number;
}

const LEAST = 2; // both sides of a comparison stay

/** A function that loads each picture once; the ones longest not asked for are forgotten when all take more than `limit` bytes. */
export function createCache<T extends Sized>(
  load: (ref: string) => Promise<T>,
  limit: number,
): (ref: string) => Promise<T> {
  const kept = new Map<string, {picture: Promise<T>; bytes: number}>(); // the oldest first
  function shrink(): void {
    let total = [...kept.values()].reduce((sum, {bytes}) => sum + bytes, 0);
    for (const [ref, {bytes}] of kept) {
      if (total <= limit || kept.size <= LEAST) return;
      kept.delete(ref);
      total -= bytes;
    }
  }
  return ref => {
    const known = kept.get(ref);
    if (known !== undefined) {
      kept.delete(ref); // to the young end
      kept.set(ref, known);
      return known.picture;
    }
    const entry = {picture: load(ref), bytes: 0};
    kept.set(ref, entry);
    entry.picture.then(
      ({width, height}) => {
        entry.bytes = width * height * 4;
        shrink();
      },
      () => {
        if (kept.get(ref) === entry) kept.delete(ref);
      },
    );
    return entry.picture;
  };
}
