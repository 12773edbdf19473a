// A place for every node of a directed graph: the layer is the longest way from a node without input, the column its
// place in the layer, near the nodes that lead to it. Cycles are cut where they are met.

export interface Place {
  readonly layer: number;
  readonly column: number;
}

export function layers(ids: readonly string[], wires: readonly {readonly from: string; readonly to: string}[]): ReadonlyMap<string, Place> {
  const known = new Set(ids);
  const inputs = new Map<string, string[]>(ids.map((id) => [id, []]));
  const outputs = new Map<string, string[]>(ids.map((id) => [id, []]));
  for (const {from, to} of wires) {
    if (!known.has(from) || !known.has(to) || from === to) continue;
    inputs.get(to)!.push(from);
    outputs.get(from)!.push(to);
  }
  // Kahn's order; what remains lies on a cycle and is taken in the order it came.
  const waiting = new Map(ids.map((id) => [id, inputs.get(id)!.length]));
  const order: string[] = ids.filter((id) => waiting.get(id) === 0);
  const placed = new Set(order);
  for (let i = 0; i < ids.length; i++) {
    if (i === order.length) {
      const stuck = ids.find((id) => !placed.has(id))!;
      placed.add(stuck);
      order.push(stuck);
    }
    for (const next of outputs.get(order[i]!)!) {
      waiting.set(next, waiting.get(next)! - 1);
      if (waiting.get(next) === 0 && !placed.has(next)) {
        placed.add(next);
        order.push(next);
      }
    }
  }
  const layer = new Map<string, number>();
  const byLayer: string[][] = [];
  for (const id of order) {
    const depth = Math.max(0, ...inputs.get(id)!.map((from) => (layer.get(from) ?? -1) + 1));
    layer.set(id, depth);
  }
  // What nothing leads to stands right above the first that uses it, not at the very top.
  for (const id of order) {
    const users = outputs.get(id)!.map((to) => layer.get(to)!);
    if (inputs.get(id)!.length === 0 && users.length > 0) layer.set(id, Math.max(0, Math.min(...users) - 1));
  }
  for (const id of order) (byLayer[layer.get(id)!] ??= []).push(id);
  const places = new Map<string, Place>();
  byLayer.forEach((row, depth) => {
    const wish = (id: string): number => {
      const columns = inputs.get(id)!.flatMap((from) => (places.has(from) ? [places.get(from)!.column] : []));
      return columns.length === 0 ? Infinity : columns.reduce((sum, column) => sum + column, 0) / columns.length;
    };
    const ranked = depth === 0 ? row : [...row].sort((a, b) => wish(a) - wish(b));
    let next = 0;
    for (const id of ranked) {
      const column = Math.max(next, depth === 0 || wish(id) === Infinity ? 0 : Math.floor(wish(id)));
      places.set(id, {layer: depth, column});
      next = column + 1;
    }
  });
  return places;
}
