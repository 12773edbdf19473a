// Long names cut where they agree: what tells a name from its siblings stays to be seen.
import {headAndTail} from './format.ts';

const LONGEST_WORD = 14; // a word is not split, unless it is this long
const WORTH_CUTTING = 8; // letters; names that agree in fewer are no siblings

/** For each name, where its end begins: the first letter in which its siblings differ, moved back to the start of the
 *  word. 0 for a name without siblings. */
export function siblingCuts(names: readonly string[]): Map<string, number> {
  const families = new Map<string, string[]>();
  for (const name of names) {
    const start = name.slice(0, WORTH_CUTTING);
    const family = families.get(start);
    if (family === undefined) families.set(start, [name]);
    else family.push(name);
  }
  const cuts = new Map<string, number>();
  for (const family of families.values()) {
    const cut = commonWords(family);
    for (const name of family) cuts.set(name, cut);
  }
  return cuts;
}

function commonWords(names: readonly string[]): number {
  const first = names[0]!;
  let same = first.length;
  for (const name of names) {
    let i = 0;
    while (i < same && first[i] === name[i]) i++;
    same = i;
  }
  if (names.every(name => name === first)) return 0;
  let cut = same;
  while (cut > 0 && same - cut < LONGEST_WORD && /[\p{L}\p{N}.=]/u.test(first[cut - 1]!)) cut--;
  return same - cut < LONGEST_WORD ? cut : same;
}

/** A name in two parts, of which the first gives way when room is short. */
export function nameParts(name: string, cut: number): [string, string] {
  return cut >= WORTH_CUTTING && cut < name.length ? [name.slice(0, cut), name.slice(cut)] : headAndTail(name);
}
