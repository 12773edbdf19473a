// All points of some series, exact, asked range by range: as many pieces as it takes until no piece is
// thinned.
import type {Client} from '../../data/client.ts';
import type {Smoothing} from '../../data/types.ts';
import type {PointSeries} from './export-data.ts';

const PX = 16384; // the server sends up to twice as many points exactly

interface Piece {
  step: number[];
  wall: number[];
  value: number[];
  smoothed: number[];
}

export async function fetchPoints(
  client: Client,
  tags: readonly string[],
  ids: readonly number[],
  restarts: 'newest' | 'all',
  smooth: Smoothing | null,
  nameOf: (id: number) => string,
): Promise<PointSeries[]> {
  const out: PointSeries[] = [];
  for (const tag of tags) {
    for (const id of ids) {
      const piece: Piece = {step: [], wall: [], value: [], smoothed: []};
      await collect(client, tag, id, restarts, smooth, null, piece, 0);
      if (piece.step.length > 0)
        out.push({run: nameOf(id), tag, ...piece, smoothed: smooth === null ? null : piece.smoothed});
    }
  }
  return out;
}

async function collect(
  client: Client,
  tag: string,
  id: number,
  restarts: string,
  smooth: Smoothing | null,
  range: readonly [number, number] | null,
  piece: Piece,
  depth: number,
): Promise<void> {
  const columns = await client.columns('columns', {
    x: 'step',
    xscale: 'linear',
    range,
    px: PX,
    agg: ['last', 'wall'],
    smooth: smooth ?? {kind: 'none', p: 0},
    restarts,
    series: [{tag, runs: [id]}],
    group: null,
  });
  const series = columns.series[0];
  if (series === undefined) return;
  const x = columns.part('x', series)!;
  if (!series.exact && depth < 40) {
    const x0 = Number(columns.head['x0']);
    const x1 = Number(columns.head['x1']);
    const pieces = Math.max(2, Math.ceil(series.total / PX));
    for (let k = 0; k < pieces; k++) {
      const a = Math.ceil(x0 + ((x1 - x0) * k) / pieces);
      const b = k === pieces - 1 ? x1 : Math.ceil(x0 + ((x1 - x0) * (k + 1)) / pieces) - 1;
      if (a <= b) await collect(client, tag, id, restarts, smooth, [a, b], piece, depth + 1);
    }
    return;
  }
  const [last, wall, smoothed] = [
    columns.part('last', series)!,
    columns.part('wall', series),
    columns.part('smooth', series),
  ];
  for (let i = 0; i < x.length; i++) {
    if (range !== null && (x[i]! < range[0] || x[i]! > range[1])) continue; // the neighbours outside
    piece.step.push(x[i]!);
    piece.wall.push(wall?.[i] ?? NaN);
    piece.value.push(last[i]!);
    piece.smoothed.push(smoothed?.[i] ?? last[i]!);
  }
}
