// The op profile's document as a tree of nodes with numbers, and the lines of it that are open.

export interface ProfileNode {
  readonly name: string;
  readonly time: number; // ps
  readonly wasted: number; // ps, of the time what neither rate nor bandwidth used
  readonly flops: number; // share of the device's rate
  readonly bandwidth: number | null; // share
  readonly rawFlops: number;
  readonly bytes: number;
  readonly occurrences: number;
  readonly op: string;
  readonly expression: string;
  readonly provenance: string;
  readonly source: string;
  readonly children: readonly ProfileNode[];
}
export interface ProfileRoot {
  readonly group: string; // program, category, provenance
  readonly idle: boolean;
  readonly node: ProfileNode;
}

type Fields = Record<string, unknown>;
const object = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
const number = (value: unknown): number => Number(value ?? 0) || 0;
const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const MOST_DEEP = 64;

function nodeOf(value: unknown, depth: number): ProfileNode {
  const fields = object(value);
  const metrics = object(fields['metrics']);
  const xla = object(fields['xla']);
  const source = object(xla['sourceInfo']);
  const shares = Array.isArray(metrics['bandwidthUtils']) ? metrics['bandwidthUtils'].map(number) : [];
  const bytes = Array.isArray(metrics['rawBytesAccessedArray']) ? metrics['rawBytesAccessedArray'].map(number) : [];
  const time = number(metrics['rawTime']);
  const children =
    depth < MOST_DEEP && Array.isArray(fields['children'])
      ? fields['children'].map(child => nodeOf(child, depth + 1))
      : [];
  const used = Math.min(1, Math.max(number(metrics['flops']), ...shares, 0));
  return {
    name: text(fields['name']),
    time,
    flops: number(metrics['flops']),
    bandwidth: shares.length === 0 ? null : Math.max(...shares),
    rawFlops: number(metrics['rawFlops']),
    bytes: bytes.reduce((sum, one) => sum + one, 0),
    wasted: time * (1 - used),
    occurrences: number(metrics['occurrences']),
    op: text(xla['op']) === '' && children.length === 0 ? text(fields['name']) : text(xla['op']),
    expression: text(xla['expression']),
    provenance: text(xla['provenance']),
    source: text(source['fileName']) === '' ? '' : `${text(source['fileName'])}:${number(source['lineNumber'])}`,
    children,
  };
}

export function rootsOf(document: unknown): readonly ProfileRoot[] {
  return Object.entries(object(document)).flatMap(([key, value]) => {
    const group = /^by(Program|Category|Provenance)(ExcludeIdle)?$/.exec(key);
    return group === null
      ? []
      : [{group: group[1]!.toLowerCase(), idle: group[2] === undefined, node: nodeOf(value, 0)}];
  });
}

/** The way to a node as names alone: what is the same in another capture, where the order differs. */
export const namesOf = (path: string): string => path.replace(/(^|\/)\d+:/g, '$1');

/** Every node by its way of names; of two with the same way the first counts. */
export function byNames(root: ProfileNode): ReadonlyMap<string, ProfileNode> {
  const found = new Map<string, ProfileNode>();
  const walk = (node: ProfileNode, path: string): void => {
    if (!found.has(path)) found.set(path, node);
    for (const child of node.children) walk(child, `${path}${child.name}/`);
  };
  walk(root, '/');
  return found;
}

export interface Line {
  readonly node: ProfileNode;
  readonly depth: number;
  readonly path: string;
  readonly left: number; // children beyond the limit
}

/** The lines of what is open, at most `most` of each node's children. */
export function flatten(
  root: ProfileNode,
  open: ReadonlySet<string>,
  how: {by: 'time' | 'wasted'; top90: boolean; most: number},
): readonly Line[] {
  const lines: Line[] = [];
  const walk = (node: ProfileNode, depth: number, path: string): void => {
    const sorted = open.has(path) ? [...node.children].sort((a, b) => b[how.by] - a[how.by]).slice(0, how.most) : [];
    lines.push({node, depth, path, left: open.has(path) ? node.children.length - sorted.length : 0});
    let sum = 0;
    sorted.forEach((child, i) => {
      if (how.top90 && sum > node.time * 0.9) return;
      sum += child.time;
      walk(child, depth + 1, `${path}${i}:${child.name}/`);
    });
  };
  walk(root, 0, '/');
  return lines;
}
