// The fill of a box by what is asked for, and what the legend says about it. Colours come out as plain
// hexadecimal, because pictures are exported.
import type {GraphNode, GraphPicture} from '../../data/graphs.ts';
import {channels, mapColour, slotStyle} from '../../draw/palette.ts';

export type Colouring = 'none' | 'structure' | 'device' | 'cluster' | 'time' | 'memory';

export interface Fills {
  of(node: GraphNode): string | null;
  readonly words: readonly {readonly text: string; readonly colour: string; readonly n: number}[]; // device and cluster
  readonly largest: number; // time and memory; 0 = no data
  readonly ramp: readonly string[];
}

/** `share` of one colour over another. */
export function mix(top: string, under: string, share: number): string {
  const [a, b] = [channels(top), channels(under)];
  return `#${a
    .map((v, i) =>
      Math.round(v * share + b[i]! * (1 - share))
        .toString(16)
        .padStart(2, '0'),
    )
    .join('')}`;
}

export function createFills(picture: GraphPicture, colouring: Colouring, surface: string, dark: boolean): Fills {
  const closed = picture.nodes.filter(node => !node.open);
  const tint = (i: number): string => mix(slotStyle(i, dark).colour, surface, 0.28);
  const heat = (share: number): string => mapColour('seq', 0.06 + share * (dark ? 0.42 : 0.34), dark); // texts stay readable
  const none: Fills = {of: () => null, words: [], largest: 0, ramp: []};
  if (colouring === 'none') return none;
  if (colouring === 'structure')
    return {...none, of: node => (node.open || node.same === undefined ? null : tint(node.same))};
  if (colouring === 'device' || colouring === 'cluster') {
    const counts = new Map<string, number>();
    for (const node of closed) {
      const word = node[colouring] ?? '';
      if (word !== '') counts.set(word, (counts.get(word) ?? 0) + 1);
    }
    const order = [...counts.keys()].sort();
    return {
      ...none,
      words: order.map((text, i) => ({text, colour: tint(i), n: counts.get(text)!})),
      of: node => (node.open || !node[colouring] ? null : tint(order.indexOf(node[colouring]))),
    };
  }
  const value = (node: GraphNode): number => Number((colouring === 'time' ? node.time_ps : node.bytes) ?? 0);
  const largest = Math.max(0, ...closed.map(value));
  return {
    ...none,
    largest,
    ramp: [0, 0.25, 0.5, 0.75, 1].map(heat),
    of: node => (node.open || value(node) === 0 || largest === 0 ? null : heat(value(node) / largest)),
  };
}

/** Every name and all scopes above it, so that a folded box knows whether something inside is meant. */
export function withScopes(names: Iterable<string>): ReadonlySet<string> {
  const out = new Set<string>();
  for (const name of names) {
    for (let at = name.length; at > 0; at = name.lastIndexOf('/', at - 1)) {
      const part = name.slice(0, at);
      if (out.has(part)) break;
      out.add(part);
    }
  }
  return out;
}
