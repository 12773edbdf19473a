// Long names cut where they agree: what tells a name from its siblings stays to be seen.
import {headAndTail} from './format.ts';

const LONGEST_WORD = 14; // a word is not split, unless it is this long
const WORTH_CUTTING = 8; // letters; names that agree in fewer are no siblings
const WORTH_DROPPING = 5; // letters of a beginning that gives way first

export interface Cut {
  /** The first letter in which its siblings differ, moved back to the start of the word; 0 without siblings. */
  readonly at: number;
  /** Whether siblings also differ in their last words. */
  readonly ends: boolean;
}
const WHOLE: Cut = {at: 0, ends: true};

/** For each name, which part of it tells it from its siblings. */
export function siblingCuts(names: readonly string[]): Map<string, Cut> {
  const families = new Map<string, string[]>();
  for (const name of names) {
    const start = name.slice(0, WORTH_CUTTING);
    const family = families.get(start);
    if (family === undefined) families.set(start, [name]);
    else family.push(name);
  }
  const cuts = new Map<string, Cut>();
  for (const family of families.values()) {
    const cut = {at: commonWords(family), ends: new Set(family.map(name => headAndTail(name)[1])).size > 1};
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

const LONG_HEAD = 7;
/** Heads of columns side by side: long ones lose the words that all of them begin with. */
export function withoutSharedWords(names: readonly string[]): string[] {
  const long = names.filter(name => name.length > LONG_HEAD);
  if (long.length < 2) return [...names];
  let shared = long[0]!.replace(/[^_/.-]*$/, '');
  while (shared !== '' && !long.every(name => name.startsWith(shared) && name.length > shared.length))
    shared = shared.replace(/[^_/.-]*[_/.-]$/, '');
  return names.map(name => (name.length > LONG_HEAD ? name.slice(shared.length) : name));
}

/** A name in three parts: when room is short the first gives way, then the second. */
export function nameParts(name: string, {at, ends}: Cut = WHOLE): [string, string, string] {
  if (at < WORTH_DROPPING || at >= name.length) {
    const [head, end] = headAndTail(name);
    return [head, '', end];
  }
  const [middle, end] = ends ? headAndTail(name.slice(at)) : [name.slice(at), ''];
  return [name.slice(0, at), middle, end];
}
