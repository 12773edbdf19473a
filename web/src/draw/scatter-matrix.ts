// A matrix of small scatter plots that share their axes by row and column. Points are painted cell by
// cell in slices; what does not pass the filters lies behind in grey.
import {enqueue} from './paint-queue.ts';
import type {ThemeColours} from './theme-colours.ts';
import type {ParallelAxis} from './parallel.ts';
import type {Size} from './plane.ts';

export interface MatrixLayout {
  readonly left: number;
  readonly top: number;
  readonly cell: {readonly w: number; readonly h: number};
  readonly columns: number;
  readonly rows: number;
}

const [LEFT, BOTTOM, GAP, PAD] = [74, 34, 6, 7];

export function layoutMatrix(size: Size, columns: number, rows: number): MatrixLayout {
  return {
    left: LEFT,
    top: 4,
    columns,
    rows,
    cell: {
      w: Math.max(20, (size.width - LEFT - 8) / Math.max(1, columns)),
      h: Math.max(20, (size.height - BOTTOM - 4) / Math.max(1, rows)),
    },
  };
}

export function matrixHeight(rows: number): number {
  return BOTTOM + 4 + rows * 118;
}

export const cellX = (m: MatrixLayout, c: number, p: number): number =>
  m.left + c * m.cell.w + PAD + p * (m.cell.w - GAP - 2 * PAD);
export const cellY = (m: MatrixLayout, r: number, p: number): number =>
  m.top + (r + 1) * m.cell.h - GAP - PAD - p * (m.cell.h - GAP - 2 * PAD);
export const shareX = (m: MatrixLayout, c: number, x: number): number =>
  (x - cellX(m, c, 0)) / (cellX(m, c, 1) - cellX(m, c, 0));
export const shareY = (m: MatrixLayout, r: number, y: number): number =>
  (y - cellY(m, r, 0)) / (cellY(m, r, 1) - cellY(m, r, 0));

/** Which cell a point lies in. */
export function cellAt(m: MatrixLayout, x: number, y: number): {readonly c: number; readonly r: number} | null {
  const [c, r] = [Math.floor((x - m.left) / m.cell.w), Math.floor((y - m.top) / m.cell.h)];
  return c >= 0 && r >= 0 && c < m.columns && r < m.rows ? {c, r} : null;
}

export function paintFrame(
  g: CanvasRenderingContext2D,
  m: MatrixLayout,
  columns: readonly ParallelAxis[],
  rows: readonly ParallelAxis[],
  colours: ThemeColours,
): void {
  g.font = `400 10.5px ${colours.font}`;
  g.strokeStyle = colours.hairline;
  g.lineWidth = 1;
  for (let r = 0; r < m.rows; r++)
    for (let c = 0; c < m.columns; c++)
      g.strokeRect(
        Math.round(m.left + c * m.cell.w) + 0.5,
        Math.round(m.top + r * m.cell.h) + 0.5,
        Math.round(m.cell.w - GAP),
        Math.round(m.cell.h - GAP),
      );
  g.fillStyle = colours.text3;
  g.textBaseline = 'top';
  g.textAlign = 'center';
  columns.forEach((axis, c) => {
    let last = -Infinity;
    for (const tick of [...axis.ticks].sort((a, b) => a.p - b.p)) {
      const half = g.measureText(tick.label).width / 2;
      const x = Math.max(
        m.left + c * m.cell.w + half,
        Math.min(m.left + (c + 1) * m.cell.w - GAP - half, cellX(m, c, tick.p)),
      );
      if (x - half < last + 4) continue;
      last = x + half;
      g.fillText(tick.label, x, m.top + m.rows * m.cell.h - GAP + 5);
    }
  });
  g.textAlign = 'right';
  g.textBaseline = 'middle';
  rows.forEach((axis, r) => {
    let last = Infinity;
    for (const tick of [...axis.ticks].sort((a, b) => a.p - b.p)) {
      const y = cellY(m, r, tick.p);
      if (last - y < 13) continue;
      last = y;
      g.fillText(tick.label, m.left - 5, y);
    }
  });
}

export function paintPoints(
  g: CanvasRenderingContext2D,
  m: MatrixLayout,
  columns: readonly ParallelAxis[],
  rows: readonly ParallelAxis[],
  picked: ArrayLike<number>,
  style: {readonly alpha: number; readonly radius: number; colour(row: number): string},
  done: () => void,
): () => void {
  let [cell, next] = [0, 0];
  const small = picked.length * m.columns * m.rows > 20_000;
  return enqueue(() => {
    if (cell >= m.columns * m.rows) {
      done();
      return true;
    }
    const [c, r] = [cell % m.columns, Math.floor(cell / m.columns)];
    const [a, b] = [columns[c]!.at, rows[r]!.at];
    g.globalAlpha = style.alpha;
    const end = Math.min(picked.length, next + 400);
    for (; next < end; next++) {
      const row = picked[next]!;
      const [x, y] = [cellX(m, c, a[row]!), cellY(m, r, b[row]!)];
      if (x !== x || y !== y) continue;
      g.fillStyle = style.colour(row);
      if (small) g.fillRect(x - 1, y - 1, 2, 2);
      else {
        g.beginPath();
        g.arc(x, y, style.radius, 0, 7);
        g.fill();
      }
    }
    g.globalAlpha = 1;
    if (next >= picked.length) [cell, next] = [cell + 1, 0];
    return false;
  });
}

export function paintRing(
  g: CanvasRenderingContext2D,
  m: MatrixLayout,
  columns: readonly ParallelAxis[],
  rows: readonly ParallelAxis[],
  row: number,
  colours: ThemeColours,
): void {
  for (let r = 0; r < m.rows; r++) {
    for (let c = 0; c < m.columns; c++) {
      const [x, y] = [cellX(m, c, columns[c]!.at[row]!), cellY(m, r, rows[r]!.at[row]!)];
      if (x !== x || y !== y) continue;
      for (const [colour, width] of [
        [colours.surface, 4],
        [colours.accent, 2],
      ] as const) {
        g.strokeStyle = colour;
        g.lineWidth = width;
        g.beginPath();
        g.arc(x, y, 4.5, 0, 7);
        g.stroke();
      }
    }
  }
}

/** The row whose point in a cell is closest, within 12 px; −1 when none is. */
export function pickPoint(
  m: MatrixLayout,
  columns: readonly ParallelAxis[],
  rows: readonly ParallelAxis[],
  picked: ArrayLike<number>,
  x: number,
  y: number,
): number {
  const at = cellAt(m, x, y);
  if (at === null) return -1;
  const [a, b] = [columns[at.c]!.at, rows[at.r]!.at];
  let best = -1;
  let distance = 144;
  for (let i = 0; i < picked.length; i++) {
    const row = picked[i]!;
    const d = (cellX(m, at.c, a[row]!) - x) ** 2 + (cellY(m, at.r, b[row]!) - y) ** 2;
    if (d < distance) [best, distance] = [row, d];
  }
  return best;
}
