// How well a short query fits a name: letters in order, better when they stand together or at the
// start of a word.

/** A score (higher is better) or null when the letters do not occur in this order. */
export function fuzzyScore(query: string, text: string): number | null {
  if (query === '') return 0;
  const q = query.toLowerCase();
  const s = text.toLowerCase();
  const whole = s.indexOf(q);
  if (whole >= 0) return 1000 - whole - (s.length - q.length) * 0.1 + (whole === 0 || !isWord(s, whole - 1) ? 200 : 0);
  let score = 0;
  let at = 0;
  let last = -2;
  for (let k = 0; k < q.length; k++) {
    if (q[k] === ' ') continue;
    const found = s.indexOf(q[k]!, at);
    if (found < 0) return null;
    score += found === last + 1 ? 12 : found === 0 || !isWord(s, found - 1) ? 8 : 1;
    last = found;
    at = found + 1;
  }
  return score - s.length * 0.05;
}

function isWord(text: string, index: number): boolean {
  return /[\p{L}\p{N}]/u.test(text[index] ?? '');
}
