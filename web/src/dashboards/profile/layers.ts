// A readable place for every box of a directed graph. The layer is the longest way from a box without input; a layer
// of more boxes than fit side by side is wrapped into several rows; a wire over several rows keeps a lane of its own
// in each, shared by all wires of the same source; boxes stand near what they are wired to. Cycles are cut where they
// are met. Pure geometry.

export interface Wired {
  readonly from: string;
  readonly to: string;
}
export interface Measures {
  readonly columns: number; // boxes side by side, at most
  readonly width: number; // of a box, px
  readonly height: number;
  readonly gap: number; // between boxes of a row
  readonly between: number; // between rows
}
export interface Drawn {
  readonly at: ReadonlyMap<string, {readonly x: number; readonly y: number; readonly row: number}>; // top left corners
  /** One path (of SVG) a wire, '' for a wire to nowhere. */
  readonly paths: readonly string[];
  readonly width: number;
  readonly height: number;
}

interface Node {
  readonly id: string; // of the box; of a lane, its source
  readonly lane: boolean;
  row: number;
  x: number; // centre
  readonly up: Node[];
  readonly down: Node[];
}

const LANE = 9; // px between wires that pass a row
const EDGE = 8; // around everything

/** Boxes in an order in which what leads to a box comes first, and the longest way to each. */
function depths(
  ids: readonly string[],
  inputs: ReadonlyMap<string, readonly string[]>,
  outputs: ReadonlyMap<string, readonly string[]>,
): ReadonlyMap<string, number> {
  const waiting = new Map(ids.map(id => [id, inputs.get(id)!.length]));
  const order: string[] = ids.filter(id => waiting.get(id) === 0);
  const placed = new Set(order);
  let cut = 0;
  for (let i = 0; i < ids.length; i++) {
    if (i === order.length) {
      while (placed.has(ids[cut]!)) cut++; // what remains lies on a cycle: in the order it came
      placed.add(ids[cut]!);
      order.push(ids[cut]!);
    }
    for (const next of outputs.get(order[i]!)!) {
      waiting.set(next, waiting.get(next)! - 1);
      if (waiting.get(next) === 0 && !placed.has(next)) {
        placed.add(next);
        order.push(next);
      }
    }
  }
  const depth = new Map<string, number>();
  for (const id of order)
    depth.set(
      id,
      inputs.get(id)!.reduce((most, from) => Math.max(most, (depth.get(from) ?? -1) + 1), 0),
    );
  // What nothing leads to stands right above the first that uses it, not at the very top.
  for (const id of order) {
    const first = outputs.get(id)!.reduce((least, to) => Math.min(least, depth.get(to)!), Infinity);
    if (inputs.get(id)!.length === 0 && Number.isFinite(first)) depth.set(id, Math.max(0, first - 1));
  }
  return depth;
}

/** Layers from top to bottom as rows of at most `columns` boxes. */
function rowsOf(
  ids: readonly string[],
  depth: ReadonlyMap<string, number>,
  columns: number,
): readonly (readonly string[])[] {
  const byDepth: string[][] = [];
  for (const id of ids) (byDepth[depth.get(id)!] ??= []).push(id);
  return byDepth
    .filter(layer => layer !== undefined)
    .flatMap(layer => {
      const rows = Math.ceil(layer.length / Math.max(1, columns));
      const each = Math.ceil(layer.length / rows);
      return Array.from({length: rows}, (_, i) => layer.slice(i * each, (i + 1) * each)).filter(row => row.length > 0);
    });
}

const mean = (nodes: readonly Node[]): number | null =>
  nodes.length === 0 ? null : nodes.reduce((sum, node) => sum + node.x, 0) / nodes.length;

export function layOut(ids: readonly string[], wires: readonly Wired[], measures: Measures): Drawn {
  const {width, height, gap, between} = measures;
  const inputs = new Map<string, string[]>(ids.map(id => [id, []]));
  const outputs = new Map<string, string[]>(ids.map(id => [id, []]));
  for (const {from, to} of wires) {
    if (!inputs.has(from) || !inputs.has(to) || from === to || outputs.get(from)!.includes(to)) continue;
    inputs.get(to)!.push(from);
    outputs.get(from)!.push(to);
  }
  const rows: Node[][] = rowsOf(ids, depths(ids, inputs, outputs), measures.columns).map((row, i) =>
    row.map(id => ({id, lane: false, row: i, x: 0, up: [], down: []})),
  );
  const boxes = new Map(rows.flat().map(node => [node.id, node]));
  const lanes = new Map<string, Node>(); // by source and row
  const join = (a: Node, b: Node): void => {
    if (a.down.includes(b)) return;
    a.down.push(b);
    b.up.push(a);
  };
  for (const id of ids) {
    const source = boxes.get(id)!;
    for (const to of outputs.get(id)!) {
      const target = boxes.get(to)!;
      let above = source;
      for (let row = source.row + 1; row < target.row; row++) {
        const key = `${row} ${id}`;
        const lane = lanes.get(key) ?? {id, lane: true, row, x: 0, up: [], down: []};
        if (!lanes.has(key)) {
          lanes.set(key, lane);
          rows[row]!.push(lane);
        }
        join(above, lane);
        above = lane;
      }
      if (target.row > source.row) join(above, target);
    }
  }
  const room = (a: Node, b: Node): number =>
    a.lane && b.lane ? LANE : a.lane || b.lane ? width / 2 + LANE : width + gap;
  const pack = (row: readonly Node[], wish: (node: Node) => number): void => {
    // As far left and as far right as the wishes and the room allow; the middle of both is fair.
    const wanted = row.map(node => Math.max(-half, Math.min(half, wish(node))));
    const left = [...wanted];
    for (let i = 1; i < row.length; i++) left[i] = Math.max(left[i]!, left[i - 1]! + room(row[i - 1]!, row[i]!));
    const right = [...wanted];
    for (let i = row.length - 2; i >= 0; i--)
      right[i] = Math.min(right[i]!, right[i + 1]! - room(row[i]!, row[i + 1]!));
    row.forEach((node, i) => (node.x = (left[i]! + right[i]!) / 2));
    for (let i = 1; i < row.length; i++) row[i]!.x = Math.max(row[i]!.x, row[i - 1]!.x + room(row[i - 1]!, row[i]!));
    // No row wanders off: the widest row is as wide as the picture.
    const over = Math.max(0, row[row.length - 1]!.x - half) + Math.min(0, row[0]!.x + half);
    for (const node of row) node.x -= over;
  };
  const half =
    Math.max(...rows.map(row => row.reduce((sum, node, i) => sum + (i === 0 ? 0 : room(row[i - 1]!, node)), 0)), 0) / 2;
  for (const row of rows) pack(row, () => 0);
  for (let pass = 0; pass < 10; pass++) {
    const down = pass % 2 === 0;
    for (const row of down ? rows : [...rows].reverse()) {
      const wish = new Map(
        row.map(node => [node, mean(down ? node.up : node.down) ?? mean(down ? node.down : node.up) ?? node.x]),
      );
      if (pass < 6) row.sort((a, b) => wish.get(a)! - wish.get(b)! || a.x - b.x);
      pack(row, node => wish.get(node)!);
    }
  }
  const leftmost = Math.min(Infinity, ...rows.flat().map(node => node.x - (node.lane ? 0 : width / 2)));
  for (const node of rows.flat()) node.x += EDGE - leftmost;
  const top = (row: number): number => EDGE + row * (height + between);
  const at = new Map([...boxes].map(([id, node]) => [id, {x: node.x - width / 2, y: top(node.row), row: node.row}]));
  const paths = wires.map(({from, to}) => {
    const [a, b] = [boxes.get(from), boxes.get(to)];
    if (a === undefined || b === undefined || a === b) return '';
    const bend = (x0: number, y0: number, x1: number, y1: number): string =>
      `C${x0} ${(y0 + y1) / 2} ${x1} ${(y0 + y1) / 2} ${x1} ${y1}`;
    let [x, y] = [a.x, top(a.row) + height];
    let path = `M${x} ${y}`;
    for (let row = a.row + 1; row < b.row; row++) {
      const lane = lanes.get(`${row} ${from}`)!;
      path += `${bend(x, y, lane.x, top(row))}V${top(row) + height}`;
      [x, y] = [lane.x, top(row) + height];
    }
    return (
      path +
      (b.row > a.row
        ? bend(x, y, b.x, top(b.row))
        : `C${x} ${y + between} ${b.x} ${top(b.row) - between} ${b.x} ${top(b.row)}`)
    );
  });
  return {
    at,
    paths,
    width: EDGE + Math.max(width, ...rows.flat().map(node => node.x + (node.lane ? 0 : width / 2))),
    height: top(rows.length) - between + EDGE,
  };
}
