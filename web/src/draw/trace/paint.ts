// Paints the lanes of a trace into a canvas: cells as rectangles with their names, merged cells paler by
// how busy they were, counters as areas, the selection on top. Numbers in, pixels out.
import type {ThemeColours} from '../theme-colours.ts';
import type {ColourSource, Fill} from './colours.ts';
import {HEADER, ROW, type Lane} from './lanes.ts';
import {
  paintArea,
  paintArrows,
  paintNotes,
  paintSteps,
  STRIP,
  type Area,
  type Arrow,
  type Note,
  type StepMark,
} from './overlay.ts';
import {timeTicks} from './time-axis.ts';

export {colourIndex} from './colours.ts';

export interface CellRow {
  readonly track: number;
  readonly depth: number;
  readonly from: number;
  readonly to: number;
}

export interface Cells extends ColourSource {
  readonly t0: number;
  readonly rows: readonly CellRow[];
  readonly start: Uint32Array;
  readonly slice: Uint32Array;
  readonly busy: Uint8Array;
}

export interface CounterLine {
  readonly track: number;
  readonly t: Float64Array;
  readonly min: Float64Array;
  readonly max: Float64Array;
  readonly last: Float64Array;
}

export interface Scene {
  readonly t0: number;
  readonly t1: number;
  readonly width: number;
  readonly height: number;
  readonly scroll: number; // y of the first visible pixel
  readonly lanes: readonly Lane[];
  readonly cells: Cells | null;
  readonly counters: readonly CounterLine[];
  readonly names: readonly string[];
  readonly fill: Fill;
  readonly palette: readonly string[]; // of counters, steps and notes
  readonly colours: ThemeColours;
  readonly selected: number | null; // slice
  readonly bright: Uint8Array | null; // by label: 1 = a hit, the others are dimmed
  readonly skip: Uint8Array | null; // by label: 1 = not shown
  readonly areas: readonly Area[];
  readonly grid: boolean;
  readonly origin: number; // of the time axis: its grid stands at round distances from here
  readonly steps: readonly StepMark[];
  readonly arrows: readonly Arrow[];
  readonly allLanes: readonly Lane[]; // also those out of view, for arrows
  readonly notes: readonly Note[];
}

/** Height of the strip of steps above the lanes. */
export const stripOf = (scene: Pick<Scene, 'steps'>): number => (scene.steps.length > 0 ? STRIP : 0);

const MERGED = 0xffffffff;

export function createPainter(): {paint(g: CanvasRenderingContext2D, scene: Scene): void} {
  function paintRow(g: CanvasRenderingContext2D, scene: Scene, cells: Cells, row: CellRow, y: number, h: number): void {
    const scale = scene.width / (scene.t1 - scene.t0);
    const offset = (cells.t0 - scene.t0) * scale;
    const perTick = cells.tick * scale;
    const labels: [string, number, number][] = [];
    let last = '';
    for (let i = row.from; i < row.to; i++) {
      const x = offset + cells.start[i]! * perTick;
      const w = cells.dur[i]! * perTick;
      if (x + w < 0 || x > scene.width) continue;
      const label = cells.name[i]!;
      if (scene.skip !== null && scene.skip[label] === 1) continue;
      const merged = cells.slice[i] === MERGED;
      const colour = scene.fill(cells, i, row.track);
      if (colour !== last) g.fillStyle = last = colour;
      const dim = scene.bright !== null && scene.bright[label] !== 1 ? 0.28 : 1;
      g.globalAlpha = (merged ? 0.35 + (0.55 * cells.busy[i]!) / 255 : 1) * dim;
      const left = Math.max(-2, x);
      const width = Math.max(0.8, Math.min(x + w, scene.width + 2) - left - (w > 3 ? 0.7 : 0));
      g.fillRect(left, y, width, h - 1);
      if (!merged && width > 28) labels.push([scene.names[label] ?? '', left, width]);
      if (cells.slice[i] === scene.selected && scene.selected !== null) {
        g.globalAlpha = 1;
        g.strokeStyle = scene.colours.text;
        g.lineWidth = 2;
        g.strokeRect(left + 1, y + 1, Math.max(1, width - 2), h - 3);
      }
    }
    g.globalAlpha = 1;
    g.fillStyle = '#ffffff';
    for (const [text, x, width] of labels) {
      const room = Math.floor((width - 6) / 6.1);
      const shown = text.length <= room ? text : room < 4 ? '' : `${text.slice(0, room - 1)}…`;
      if (shown !== '') g.fillText(shown, Math.max(0, x) + 4, y + h / 2);
    }
  }

  /** The folded process as one line: its tracks over each other, pale. */
  function paintSummary(
    g: CanvasRenderingContext2D,
    scene: Scene,
    cells: Cells,
    rows: readonly CellRow[],
    y: number,
  ): void {
    const scale = scene.width / (scene.t1 - scene.t0);
    const offset = (cells.t0 - scene.t0) * scale;
    for (const row of rows) {
      if (row.depth !== 0) continue;
      let last = '';
      for (let i = row.from; i < row.to; i++) {
        const x = offset + cells.start[i]! * cells.tick * scale;
        const w = cells.dur[i]! * cells.tick * scale;
        if (x + w < 0 || x > scene.width) continue;
        if (scene.skip !== null && scene.skip[cells.name[i]!] === 1) continue;
        const colour = scene.fill(cells, i, row.track);
        if (colour !== last) g.fillStyle = last = colour;
        g.globalAlpha = 0.25 + (0.45 * cells.busy[i]!) / 255;
        g.fillRect(
          Math.max(-2, x),
          y + 5,
          Math.max(0.8, Math.min(x + w, scene.width + 2) - Math.max(-2, x)),
          HEADER - 10,
        );
      }
    }
    g.globalAlpha = 1;
  }

  function paintCounter(g: CanvasRenderingContext2D, scene: Scene, line: CounterLine, y: number, h: number): void {
    const scale = scene.width / (scene.t1 - scene.t0);
    let top = 0;
    let low = 0;
    for (const value of line.max) if (value > top) top = value;
    for (const value of line.min) if (value < low) low = value;
    if (line.t.length === 0 || top <= low) return;
    const yOf = (value: number): number => y + h - 4 - ((value - low) / (top - low)) * (h - 9);
    const zero = yOf(0);
    const first = Math.max(0, (line.t[0]! - scene.t0) * scale);
    g.beginPath();
    g.moveTo(first, yOf(line.last[0]!));
    for (let i = 1; i < line.t.length; i++) {
      const x = (line.t[i]! - scene.t0) * scale;
      g.lineTo(x, yOf(line.last[i - 1]!));
      if (line.max[i]! > line.min[i]!) {
        g.lineTo(x, yOf(line.max[i]!));
        g.lineTo(x, yOf(line.min[i]!));
      }
      g.lineTo(x, yOf(line.last[i]!));
    }
    g.lineTo(scene.width, yOf(line.last[line.last.length - 1]!));
    g.strokeStyle = scene.palette[0]!;
    g.lineWidth = 1.2;
    g.stroke();
    g.lineTo(scene.width, zero);
    g.lineTo(first, zero);
    g.closePath();
    g.globalAlpha = scene.colours.band * 1.6;
    g.fillStyle = scene.palette[0]!;
    g.fill();
    g.globalAlpha = 1;
  }

  function paintGrid(g: CanvasRenderingContext2D, scene: Scene): void {
    g.strokeStyle = scene.colours.grid;
    g.lineWidth = 1;
    g.beginPath();
    for (const tick of timeTicks(scene.t0 - scene.origin, scene.t1 - scene.origin, scene.width).ticks) {
      const x = Math.round(((tick + scene.origin - scene.t0) / (scene.t1 - scene.t0)) * scene.width) + 0.5;
      g.moveTo(x, 0);
      g.lineTo(x, scene.height);
    }
    g.stroke();
  }

  function paint(g: CanvasRenderingContext2D, scene: Scene): void {
    const {colours, width, height} = scene;
    g.fillStyle = colours.surface;
    g.fillRect(0, 0, width, height);
    g.font = `10.5px ${colours.font}`;
    g.textBaseline = 'middle';
    if (scene.grid) paintGrid(g, scene);
    const rows = new Map<number, CellRow[]>();
    for (const row of scene.cells?.rows ?? []) {
      const list = rows.get(row.track);
      if (list === undefined) rows.set(row.track, [row]);
      else list.push(row);
    }
    const lines = new Map(scene.counters.map(line => [line.track, line]));
    const strip = stripOf(scene);
    for (const lane of scene.lanes) {
      const y = strip + lane.top - scene.scroll;
      if (y > height || y + lane.height < strip) continue;
      if (lane.kind === 'header') {
        g.fillStyle = colours.sunken;
        g.fillRect(0, y, width, lane.height);
        if (lane.folded && scene.cells !== null)
          paintSummary(
            g,
            scene,
            scene.cells,
            lane.inner.flatMap(track => rows.get(track) ?? []),
            y,
          );
      } else if (lane.kind === 'slices' && scene.cells !== null) {
        for (const row of rows.get(lane.track) ?? []) {
          if (row.depth < lane.rows) paintRow(g, scene, scene.cells, row, y + 2 + row.depth * ROW, ROW);
        }
      } else if (lane.kind === 'counter') {
        const line = lines.get(lane.track);
        if (line !== undefined) paintCounter(g, scene, line, y, lane.height);
      }
      g.fillStyle = colours.hairline;
      g.fillRect(0, y + lane.height - 1, width, 1);
    }
    const stage = {...scene, top: strip};
    paintNotes(g, stage, scene.notes, scene.palette);
    for (const area of scene.areas) paintArea(g, stage, area, scene.lanes);
    g.save();
    g.beginPath();
    g.rect(0, strip, width, height - strip);
    g.clip();
    paintArrows(g, stage, scene.allLanes, scene.arrows);
    g.restore();
    if (strip > 0) paintSteps(g, stage, scene.steps, scene.palette[scene.palette.length > 4 ? 4 : 0]!);
  }

  return {paint};
}

/** The cell under a pixel, as an index into the columns, or null. */
export function cellAt(scene: Scene, x: number, y: number): {index: number; lane: Lane} | null {
  if (scene.cells === null) return null;
  const inside = y - stripOf(scene) + scene.scroll;
  if (y < stripOf(scene)) return null;
  const lane = scene.lanes.find(one => inside >= one.top && inside < one.top + one.height);
  if (lane === undefined || lane.kind !== 'slices') return null;
  const depth = Math.floor((inside - lane.top - 2) / ROW);
  const row = scene.cells.rows.find(one => one.track === lane.track && one.depth === depth);
  if (row === undefined) return null;
  const cells = scene.cells;
  const perPixel = (scene.t1 - scene.t0) / scene.width;
  const time = (scene.t0 + x * perPixel - cells.t0) / cells.tick;
  const slack = (1.5 * perPixel) / cells.tick; // narrow slices are hit from a pixel away
  let low = row.from;
  let high = row.to;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (cells.start[middle]! <= time) low = middle + 1;
    else high = middle;
  }
  for (const index of [low - 1, low]) {
    if (index < row.from || index >= row.to) continue;
    if (scene.skip !== null && scene.skip[cells.name[index]!] === 1) continue;
    if (time >= cells.start[index]! - slack && time <= cells.start[index]! + cells.dur[index]! + slack)
      return {index, lane};
  }
  return null;
}
