// How a person narrows call stacks: each step is a chip that can be taken away again.
import type {FlameNode, FlameShape} from '../../../data/trace.ts';

export type StackFilter = 'pivot' | 'keep_stack' | 'drop_stack' | 'drop_frame';
export interface StackChip {
  readonly kind: StackFilter;
  readonly name: string; // of a frame, exact; or words to find when `words`
  readonly words?: boolean;
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');

/** The server takes one expression for each kind: several names become alternatives. Of pivots the last one holds. */
export function shapeOf(direction: 'down' | 'up', chips: readonly StackChip[]): FlameShape {
  const text = (kind: StackFilter): string => {
    const all = chips.filter(chip => chip.kind === kind);
    const used = kind === 'pivot' ? all.slice(-1) : all;
    if (used.length === 1 && used[0]!.words) return used[0]!.name;
    return used.length === 0
      ? ''
      : `/${used.map(chip => (chip.words ? escaped(chip.name) : `^${escaped(chip.name)}$`)).join('|')}/`;
  };
  return {
    direction,
    pivot: text('pivot'),
    keep_stack: text('keep_stack'),
    drop_stack: text('drop_stack'),
    drop_frame: text('drop_frame'),
  };
}

/** The same tree with calls for time: a frame is as wide as the calls of it and of all inside it. */
export function byCalls(nodes: readonly FlameNode[]): readonly FlameNode[] {
  const total = nodes.map(node => node.count);
  for (let i = nodes.length - 1; i > 0; i--) total[nodes[i]!.parent ?? 0]! += total[i]!;
  return nodes.map((node, i) => ({...node, total: total[i]!, self: node.count}));
}
