// Natural order: runs of digits (with fraction and exponent) compare as numbers, "/" sorts before
// everything else, so a2 < a10 and a/b < a+/b. Names are cut into pieces once and remembered: a table of
// ten thousand runs is sorted often.

type Piece = string | number;

const PIECES = /\d+(?:\.\d+)?(?:e[+-]?\d+)?|\D+/gi;
const MOST = 50_000;
const known = new Map<string, readonly Piece[]>();

function piecesOf(name: string): readonly Piece[] {
  let pieces = known.get(name);
  if (pieces === undefined) {
    pieces = (name.replaceAll('/', '\u0001').match(PIECES) ?? []).map(piece =>
      isDigit(piece.charCodeAt(0)) ? Number(piece) : piece,
    );
    if (known.size >= MOST) known.clear();
    known.set(name, pieces);
  }
  return pieces;
}

export function compareNatural(a: string, b: string): number {
  if (a === b) return 0;
  const pa = piecesOf(a);
  const pb = piecesOf(b);
  const n = Math.min(pa.length, pb.length);
  for (let i = 0; i < n; i++) {
    const x = pa[i]!;
    const y = pb[i]!;
    if (x === y) continue;
    if (typeof x === 'number' && typeof y === 'number') return x - y;
    if (typeof x === 'string' && typeof y === 'string') {
      if (y.startsWith(x)) return i + 1 < pa.length ? 48 - y.charCodeAt(x.length) : -1; // a digit against y's next letter
      if (x.startsWith(y)) return i + 1 < pb.length ? x.charCodeAt(y.length) - 48 : 1;
      return x < y ? -1 : 1;
    }
    return typeof x === 'number' ? 48 - (y as string).charCodeAt(0) : x.charCodeAt(0) - 48;
  }
  return pa.length - pb.length || (a < b ? -1 : 1);
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}
