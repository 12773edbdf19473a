// Natural order: runs of digits (with fraction and exponent) compare as numbers, "/" sorts before
// everything else, so a2 < a10 and a/b < a+/b.

const NUMBER = /^\d+(?:\.\d+)?(?:e[+-]?\d+)?/i;

export function compareNatural(a: string, b: string): number {
  let i = 0;
  let j = 0;
  while (i < a.length && j < b.length) {
    const ca = a.charCodeAt(i);
    const cb = b.charCodeAt(j);
    if (isDigit(ca) && isDigit(cb)) {
      const na = NUMBER.exec(a.slice(i, i + 40))![0];
      const nb = NUMBER.exec(b.slice(j, j + 40))![0];
      const difference = Number(na) - Number(nb);
      if (difference !== 0) return difference;
      i += na.length;
      j += nb.length;
    } else {
      if (ca !== cb) {
        if (ca === 47) return -1;
        if (cb === 47) return 1;
        return ca - cb;
      }
      i++;
      j++;
    }
  }
  const rest = a.length - i - (b.length - j);
  return rest !== 0 ? rest : a < b ? -1 : a > b ? 1 : 0;
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}
