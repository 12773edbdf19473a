// Two executions of a model laid over each other: the server matches modules by name, level by level; this reads what
// it says and adds up the differences in the order of execution.

export interface DiffNode {
  readonly name: string;
  readonly host: readonly [number, number]; // µs: now, baseline
  readonly device: readonly [number, number];
  readonly state: 'both' | 'new' | 'gone';
  readonly children: readonly DiffNode[];
}

type Fields = Record<string, unknown>;
const object = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
const pair = (value: unknown): readonly [number, number] =>
  Array.isArray(value) ? [Number(value[0] ?? 0) || 0, Number(value[1] ?? 0) || 0] : [Number(value ?? 0) || 0, 0];
const MOST_DEEP = 200;

function nodeOf(value: unknown, depth: number): DiffNode {
  const fields = object(value);
  const host = fields['host_duration'];
  const isGone = fields['gone'] === true || (Array.isArray(host) && host[0] === null);
  const isNew = Array.isArray(host) && host[1] === null;
  const below = depth < MOST_DEEP && Array.isArray(fields['children']) ? fields['children'] : [];
  return {
    name: String(fields['name'] ?? ''),
    host: pair(host),
    device: pair(fields['device_duration']),
    state: isGone ? 'gone' : isNew ? 'new' : 'both',
    children: below.map(child => nodeOf(child, depth + 1)),
  };
}

export function diffTree(changes: unknown): readonly DiffNode[] {
  const data = object(changes)['data'];
  return Array.isArray(data) ? data.map(node => nodeOf(node, 0)) : [];
}

/** What each node changed by, and what all up to it did. */
export function accumulated(
  nodes: readonly DiffNode[],
  kind: 'host' | 'device',
): readonly {node: DiffNode; change: number; sum: number}[] {
  let sum = 0;
  return nodes.map(node => {
    const change = node[kind][0] - node[kind][1];
    sum += change;
    return {node, change, sum};
  });
}
