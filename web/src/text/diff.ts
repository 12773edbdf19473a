// What changed between two texts, word by word: Myers' shortest edit script over tokens, with a
// limit on the number of edits, after which the rest counts as replaced whole.

export interface Piece {
  readonly kind: 'same' | 'added' | 'removed';
  readonly text: string;
}

const MAX_EDITS = 1000;

/** Words, decimal numbers, runs of spaces and single marks; joining the tokens gives the text back. */
export function tokens(text: string): string[] {
  return text.match(/\n|[^\S\n]+|\d+(?:\.\d+)+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) ?? [];
}

/** Pieces in reading order; the same and removed ones join to `before`, same and added to `after`. */
export function diffText(before: string, after: string): Piece[] {
  const a = tokens(before);
  const b = tokens(after);
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const pieces: Piece[] = [];
  push(pieces, 'same', a.slice(0, head));
  for (const [kind, text] of script(a.slice(head, a.length - tail), b.slice(head, b.length - tail)))
    push(pieces, kind, text);
  push(pieces, 'same', a.slice(a.length - tail));
  return pieces;
}

function push(pieces: Piece[], kind: Piece['kind'], words: readonly string[]): void {
  if (words.length === 0) return;
  const last = pieces[pieces.length - 1];
  if (last?.kind === kind) pieces[pieces.length - 1] = {kind, text: last.text + words.join('')};
  else pieces.push({kind, text: words.join('')});
}

function script(a: readonly string[], b: readonly string[]): [Piece['kind'], string[]][] {
  const limit = Math.min(MAX_EDITS, a.length + b.length);
  const trace: Int32Array[] = [];
  let reach = new Int32Array(2 * limit + 3);
  const zero = limit + 1;
  for (let d = 0; d <= limit; d++) {
    trace.push(reach.slice());
    for (let k = -d; k <= d; k += 2) {
      const down = k === -d || (k !== d && reach[zero + k - 1]! < reach[zero + k + 1]!);
      let x = down ? reach[zero + k + 1]! : reach[zero + k - 1]! + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++;
      reach[zero + k] = x;
      if (x >= a.length && x - k >= b.length) return walkBack(trace, a, b, zero);
    }
    reach = reach.slice();
  }
  return [
    ['removed', [...a]],
    ['added', [...b]],
  ];
}

function walkBack(
  trace: readonly Int32Array[],
  a: readonly string[],
  b: readonly string[],
  zero: number,
): [Piece['kind'], string[]][] {
  const out: [Piece['kind'], string[]][] = [];
  let x = a.length;
  let y = b.length;
  for (let d = trace.length - 1; d >= 0; d--) {
    const reach = trace[d]!;
    const k = x - y;
    const down = k === -d || (k !== d && reach[zero + k - 1]! < reach[zero + k + 1]!);
    const fromX = d === 0 ? 0 : down ? reach[zero + k + 1]! : reach[zero + k - 1]!;
    const fromY = d === 0 ? 0 : fromX - (down ? k + 1 : k - 1);
    while (x > fromX && y > fromY) {
      out.push(['same', [a[--x]!]]);
      y--;
    }
    if (d === 0) break;
    if (down) out.push(['added', [b[--y]!]]);
    else out.push(['removed', [a[--x]!]]);
  }
  return out.reverse();
}
