// Operations put together by the scopes in their names: model/dense/MatMul lies in dense, which lies in model.

export interface ScopedOp {
  readonly name: string;
  readonly time: number; // µs, of its own
  readonly count: number;
}
export interface Scope {
  readonly name: string; // the last part
  readonly path: string;
  readonly time: number; // with everything in it
  readonly count: number;
  readonly ops: number; // operations in it
  readonly children: readonly Scope[];
}

interface Growing {
  name: string;
  path: string;
  time: number;
  count: number;
  ops: number;
  below: Map<string, Growing>;
}

const grown = (name: string, path: string): Growing => ({name, path, time: 0, count: 0, ops: 0, below: new Map()});
const MOST_DEEP = 32;

function settle(node: Growing): Scope {
  const children = [...node.below.values()]
    .map(settle)
    .sort((a, b) => b.time - a.time || a.name.localeCompare(b.name, 'en'));
  // A scope with one scope in it and nothing else is one line.
  if (children.length === 1 && node.path !== '' && children[0]!.ops === node.ops && children[0]!.children.length > 0)
    return {...children[0]!, name: `${node.name}/${children[0]!.name}`};
  return {name: node.name, path: node.path, time: node.time, count: node.count, ops: node.ops, children};
}

export function scopesOf(ops: readonly ScopedOp[]): Scope {
  const root = grown('', '');
  for (const op of ops) {
    const parts = op.name
      .split('/')
      .filter(part => part !== '')
      .slice(0, MOST_DEEP);
    let at = root;
    for (const part of [null, ...(parts.length === 0 ? [op.name] : parts)]) {
      if (part !== null) {
        const path = `${at.path}/${part}`;
        const next = at.below.get(part) ?? grown(part, path);
        at.below.set(part, next);
        at = next;
      }
      at.time += op.time;
      at.count += op.count;
      at.ops += 1;
    }
  }
  return settle(root);
}

/** The lines of what is open, each with its depth. */
export function openLines(root: Scope, open: ReadonlySet<string>): readonly {scope: Scope; depth: number}[] {
  const lines: {scope: Scope; depth: number}[] = [];
  const walk = (scope: Scope, depth: number): void => {
    lines.push({scope, depth});
    if (open.has(scope.path)) for (const child of scope.children) walk(child, depth + 1);
  };
  for (const child of root.children) walk(child, 0);
  return lines;
}
