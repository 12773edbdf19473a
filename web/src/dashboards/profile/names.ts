// Long names and places in source files, as tables and cards show them.
import {middleEllipsis} from '../../text/format.ts';

/** A C++ name without what stands between its angle brackets; operators such as << stay. */
export function withoutTemplates(name: string): string {
  let out = '';
  let depth = 0;
  for (let i = 0; i < name.length; i++) {
    const letter = name[i]!;
    const isOperator = depth === 0 && /operator\s*[<>=-]*$/.test(out);
    if (letter === '<' && !isOperator) depth++;
    else if (letter === '>' && depth > 0 && name[i - 1] !== '-') depth--;
    else if (depth === 0) out += letter;
  }
  return depth === 0 ? out : name; // unbalanced: no template
}

export const hasTemplates = (name: string): boolean => /\w<.*>/.test(name) && withoutTemplates(name) !== name;

/** Beginning and end of a long name, which tell most of it apart. */
export const shortName = (name: string, letters = 42): string => middleEllipsis(name, letters);

export interface Place {
  readonly path: string;
  readonly line: number;
  readonly rest: string; // what follows, as the name of a function
}

/** `dir/file.py:12` or `dir/file.py(12): function`; null for anything else. */
export function placeOf(text: string): Place | null {
  const [, path, line, rest] =
    /^(.*[^\s:(]):(\d+)()$/.exec(text) ?? /^(.*[^\s(])\((\d+)\)(?::\s*(.*))?$/.exec(text) ?? [];
  return path === undefined || line === undefined || path.startsWith('<')
    ? null
    : {path, line: Number(line), rest: rest ?? ''};
}

/** The words of a C++ signature that tell kernels apart: without return type, namespaces, template arguments and
 *  parameters; a functor among the arguments stays, since it says what the kernel computes. Other names stay as they are. */
export function kernelName(name: string): string {
  // Tensile: transposes, types and the tile stand among fifty settings.
  const [, product, types, tile] = /^(Cijk_[A-Za-z]+_[A-Za-z]+)_([A-Z0-9]+)_[^]*?_(MT\d+x\d+x\d+)/.exec(name) ?? [];
  if (product !== undefined) return `${product} · ${types} · ${tile}`;
  if (!/^void |\w<[^]*>|\w::[^]*\w\([^]*\)$/.test(name) || name.startsWith('<')) return name;
  const plain = name.replace(/^void /, '').replaceAll('(anonymous namespace)::', '');
  const words =
    withoutTemplates(plain)
      .replace(/\([^]*$/, '')
      .trim()
      .split(/\s+/)
      .at(-1)
      ?.split('::') ?? [];
  const last = words.at(-1) ?? '';
  if (!/^\w{2}/.test(last)) return name;
  const isPlain = /^(device_)?kernel\d*$/i.test(last); // says nothing: the type that it is made for does
  const argument = /<\s*(?:\w+::)*(\w{8,})/.exec(plain)?.[1];
  if (isPlain) return argument ?? words.slice(-2).join('::');
  const inner = /<[^]*?\b(\w*(?:Functor|functor|_op|Ops?)\w*)/.exec(name)?.[1];
  if (inner !== undefined && inner !== last) return `${last} · ${inner}`;
  return last;
}

/** A name as a table or a chart shows it: `operator/kernel` with the kernel's short name, `a:a` once. */
export function readableName(name: string): string {
  const [, twice] = /^(.+):\1$/.exec(name) ?? [];
  if (twice !== undefined) return twice;
  const [, operator, kernel] = /^(\w+::[\w.]+)\/([^]+)$/.exec(name) ?? [];
  return operator !== undefined && kernel !== undefined ? `${operator} / ${kernelName(kernel)}` : kernelName(name);
}
