// Where examples lie on the scatter: axes of numbers or words, and one panel for each value of a third column.
import type {Values} from '../../data/whatif.ts';
import type {Plane, Size} from '../../draw/plane.ts';

const PAD = {left: 56, right: 12, top: 10, bottom: 30, title: 16};
const MISSING = 0xffffffff;
export const MOST_PANELS = 12;

export interface Axis {
  readonly at: Float64Array;
  readonly lo: number;
  readonly hi: number;
  readonly words: readonly string[] | null;
}

/** Words side by side with a little scatter, so that equal ones do not hide each other. */
export function axisOf(v: Values | undefined): Axis {
  if (v === undefined) return {at: new Float64Array(), lo: 0, hi: 1, words: null};
  if (v.numbers !== null) {
    let [lo, hi] = [Infinity, -Infinity];
    for (const one of v.numbers)
      if (Number.isFinite(one)) {
        if (one < lo) lo = one;
        if (one > hi) hi = one;
      }
    if (!(hi > lo)) [lo, hi] = Number.isFinite(lo) ? [lo - 0.5, lo + 0.5] : [0, 1];
    const room = (hi - lo) * 0.02;
    return {at: v.numbers, lo: lo - room, hi: hi + room, words: null};
  }
  const codes = v.codes ?? new Uint32Array();
  const out = new Float64Array(codes.length);
  for (let i = 0; i < codes.length; i++) {
    const jitter = (((i * 2654435761) >>> 8) % 1000) / 1000 - 0.5;
    out[i] = codes[i] === MISSING ? NaN : codes[i]! + jitter * 0.7;
  }
  return {at: out, lo: -0.5, hi: Math.max(0.5, v.words.length - 0.5), words: v.words};
}

/** Which panel each example belongs to. */
export interface Facets {
  readonly of: Uint8Array | null; // null: one panel for all
  readonly titles: readonly string[];
}

/**
 * Words: the most frequent ones, the rest together. Numbers: four ranges of equal width, or each value where there are
 * few. What is missing comes last.
 */
export function facetsOf(
  v: Values | undefined,
  say: (value: number) => string,
  words: {readonly others: string; readonly missing: string},
): Facets {
  if (v === undefined) return {of: null, titles: ['']};
  const [codes, names] = v.codes !== null ? [v.codes, v.words] : bucketsOf(v.numbers ?? new Float64Array(), say);
  const counts = new Uint32Array(names.length);
  let missing = 0;
  for (const code of codes) {
    if (code < counts.length) counts[code]!++;
    else missing++;
  }
  const room = MOST_PANELS - (missing > 0 ? 1 : 0);
  const ordered = [...names.keys()].filter(i => counts[i]! > 0);
  const kept =
    ordered.length <= room
      ? ordered
      : ordered
          .toSorted((a, b) => counts[b]! - counts[a]!)
          .slice(0, room - 1)
          .toSorted((a, b) => a - b);
  const titles = kept.map(i => names[i]!);
  const panel = new Uint8Array(names.length).fill(titles.length);
  kept.forEach((i, at) => (panel[i] = at));
  if (kept.length < ordered.length) titles.push(words.others);
  const last = titles.length;
  if (missing > 0) titles.push(words.missing);
  const of = new Uint8Array(codes.length);
  for (let i = 0; i < codes.length; i++) of[i] = codes[i]! < panel.length ? panel[codes[i]!]! : last;
  return {of, titles: titles.length === 0 ? [''] : titles};
}

function bucketsOf(numbers: Float64Array, say: (value: number) => string): [Uint32Array, string[]] {
  const distinct = new Set<number>();
  for (const v of numbers) {
    if (Number.isFinite(v)) distinct.add(v);
    if (distinct.size > 6) break;
  }
  const codes = new Uint32Array(numbers.length).fill(MISSING);
  if (distinct.size <= 6) {
    const sorted = [...distinct].sort((a, b) => a - b);
    const at = new Map(sorted.map((v, i) => [v, i]));
    numbers.forEach((v, i) => (codes[i] = at.get(v) ?? MISSING));
    return [codes, sorted.map(say)];
  }
  const {lo, hi} = rangeOf(numbers);
  const parts = 4;
  numbers.forEach((v, i) => {
    if (Number.isFinite(v)) codes[i] = Math.min(parts - 1, Math.floor(((v - lo) / (hi - lo)) * parts));
  });
  const edge = (i: number): string => say(lo + ((hi - lo) * i) / parts);
  return [codes, Array.from({length: parts}, (_, i) => `${edge(i)} \u2013 ${edge(i + 1)}`)];
}

function rangeOf(numbers: Float64Array): {lo: number; hi: number} {
  let [lo, hi] = [Infinity, -Infinity];
  for (const v of numbers)
    if (Number.isFinite(v)) {
      if (v < lo) lo = v;
      if (v > hi) hi = v;
    }
  return {lo, hi};
}

/** The panels' rectangles, in rows; each with the same axes. */
export function planesOf(count: number, size: Size, x: Axis, y: Axis): Plane[] {
  const across = Math.min(
    count,
    Math.max(1, Math.round(Math.sqrt((count * size.width) / Math.max(1, size.height * 1.3)))),
  );
  const down = Math.ceil(count / across);
  const width = size.width / across;
  const height = size.height / down;
  const title = count > 1 ? PAD.title : 0;
  return Array.from({length: count}, (_, i) => ({
    left: (i % across) * width + PAD.left,
    right: ((i % across) + 1) * width - PAD.right,
    top: Math.floor(i / across) * height + PAD.top + title,
    bottom: (Math.floor(i / across) + 1) * height - PAD.bottom,
    x0: x.lo,
    x1: x.hi,
    y0: y.lo,
    y1: y.hi,
  }));
}
