// Reads HLO text, as far as a picture of it needs: computations, their instructions, operands and calls.

export interface Instruction {
  readonly name: string;
  readonly shape: string;
  readonly op: string;
  readonly operands: readonly string[];
  readonly calls: readonly string[];
  readonly rest: string; // attributes
  readonly root: boolean;
  readonly parameter?: number; // of a parameter: which
}
export interface Computation {
  readonly name: string;
  readonly entry: boolean;
  readonly instructions: readonly Instruction[];
}

const LINE = /^\s*(ROOT )?%?([\w.$-]+) = (.+)$/;
const HEAD = /^(ENTRY )?%?([\w.$-]+)\b.*\{\s*$/;

/** Where the bracket that opens at `from` closes. */
function closing(text: string, from: number): number {
  let depth = 0;
  for (let i = from; i < text.length; i++) {
    if (text[i] === '(') depth++;
    else if (text[i] === ')' && --depth === 0) return i;
  }
  return text.length;
}

const LITERALS = new Set(['constant', 'parameter']); // what stands in their brackets is no instruction

/** The names between an instruction's brackets; texts differ in whether they write shapes and % before them. */
function operandsOf(inside: string): string[] {
  const names: string[] = [];
  let depth = 0;
  let piece = '';
  for (const letter of `${inside},`) {
    if (letter === ',' && depth === 0) {
      const name = /%?([A-Za-z_][\w.$-]*)\s*$/.exec(piece)?.[1];
      if (name !== undefined) names.push(name);
      piece = '';
      continue;
    }
    if ('([{'.includes(letter)) depth++;
    else if (')]}'.includes(letter)) depth--;
    piece += letter;
  }
  return names;
}

function parseLine(line: string): Instruction | null {
  const [, root, name, body] = LINE.exec(line) ?? [];
  if (name === undefined || body === undefined) return null;
  // A shape is one word, or a tuple in brackets; the operation follows it.
  const shapeEnd = body.startsWith('(') ? closing(body, 0) + 1 : body.indexOf(' ');
  const shape = body.slice(0, shapeEnd);
  const call = body.slice(shapeEnd).trimStart();
  const open = call.indexOf('(');
  if (open < 0) return null;
  const close = closing(call, open);
  const inside = call.slice(open + 1, close);
  const rest = call.slice(close + 1).replace(/^,\s*/, '');
  return {
    name,
    shape,
    op: call.slice(0, open),
    rest,
    root: root !== undefined,
    ...(call.startsWith('parameter(') ? {parameter: Number.parseInt(inside, 10)} : {}),
    operands: LITERALS.has(call.slice(0, open)) ? [] : operandsOf(inside),
    calls: [...rest.matchAll(/(?:calls|to_apply|body|condition)=%?([\w.$-]+)/g)].map(match => match[1]!),
  };
}

export function parseHlo(text: string): readonly Computation[] {
  const found: Computation[] = [];
  let open: {name: string; entry: boolean; instructions: Instruction[]} | null = null;
  for (const line of text.split('\n')) {
    if (open === null) {
      const [, entry, name] = HEAD.exec(line) ?? [];
      if (name !== undefined && !line.startsWith('HloModule'))
        open = {name, entry: entry !== undefined, instructions: []};
    } else if (line.startsWith('}')) {
      found.push(open);
      open = null;
    } else {
      const one = parseLine(line);
      if (one !== null) open.instructions.push(one);
    }
  }
  return found;
}

/** The instructions with every fusion replaced by what it is made of; its parameters are what it takes. */
export function openFusions(all: readonly Instruction[], computations: readonly Computation[]): readonly Instruction[] {
  const byName = new Map(computations.map(one => [one.name, one]));
  const instead = new Map<string, string>(); // a fusion, or a parameter of one, by what stands for it
  const resolve = (name: string): string => {
    let at = name;
    for (let hops = 0; instead.has(at) && hops < 100; hops++) at = instead.get(at)!;
    return at;
  };
  const out: Instruction[] = [];
  for (const one of all) {
    const inner = one.op === 'fusion' ? byName.get(one.calls[0] ?? '') : undefined;
    if (inner === undefined) {
      out.push(one);
      continue;
    }
    const named = (name: string): string => `${one.name}/${name}`; // one computation may serve several fusions
    for (const part of inner.instructions) {
      const parameter = part.op === 'parameter' ? one.operands[part.parameter ?? -1] : undefined;
      if (parameter !== undefined) instead.set(named(part.name), parameter);
      else out.push({...part, name: named(part.name), operands: part.operands.map(named), root: one.root && part.root});
      if (part.root) instead.set(one.name, named(part.name));
    }
  }
  return out.map(one => ({...one, operands: one.operands.map(resolve)}));
}

export interface Folded {
  readonly shown: readonly Instruction[];
  readonly wires: readonly {readonly from: string; readonly to: string}[];
  readonly constants: ReadonlyMap<string, number>; // by user: how many it takes
}

const PASSES_ON = new Set(['get-tuple-element', 'bitcast']);

/** The instructions that do something: constants fold into those that take them, elements of tuples into the wire. */
export function foldPlumbing(all: readonly Instruction[]): Folded {
  const byName = new Map(all.map(one => [one.name, one]));
  const isConstant = (one: Instruction): boolean => one.op === 'constant' && !one.root;
  const isPassed = (one: Instruction): boolean =>
    PASSES_ON.has(one.op) && !one.root && byName.has(one.operands[0] ?? '');
  const sourceOf = (name: string): string => {
    let at = byName.get(name);
    for (let hops = 0; at !== undefined && isPassed(at) && hops < all.length; hops++) at = byName.get(at.operands[0]!);
    return at?.name ?? name;
  };
  const shown = all.filter(one => !isConstant(one) && !isPassed(one));
  const constants = new Map<string, number>();
  const wires: {from: string; to: string}[] = [];
  for (const one of shown) {
    for (const operand of one.operands) {
      const source = byName.get(sourceOf(operand));
      if (source === undefined) continue;
      if (isConstant(source)) constants.set(one.name, (constants.get(one.name) ?? 0) + 1);
      else wires.push({from: source.name, to: one.name});
    }
  }
  return {shown, wires, constants};
}
