// What lies over the slices: the strip of steps and their boundaries, arrows between slices, the chosen range,
// notes. Numbers in, pixels out.
import type {ThemeColours} from '../theme-colours.ts';
import {laneOf, ROW, type Lane} from './lanes.ts';

export interface StepMark {
  readonly name: string;
  readonly begin: number;
  readonly end: number;
}
export interface ArrowEnd {
  readonly track: number;
  readonly depth: number;
  readonly begin: number;
  readonly dur: number;
}
export interface Arrow {
  readonly from: ArrowEnd;
  readonly to: ArrowEnd;
  readonly strong: boolean; // of the chosen slice
}
export interface Area {
  readonly t0: number;
  readonly t1: number;
  readonly tracks: readonly number[] | null; // null: all
}
export interface Note {
  readonly t0: number;
  readonly t1: number;
  readonly colour?: number; // of the palette
}

export interface Stage {
  readonly t0: number;
  readonly t1: number;
  readonly width: number;
  readonly height: number;
  readonly top: number; // height of the strip of steps
  readonly scroll: number;
  readonly colours: ThemeColours;
}

export const STRIP = 18;
type G = CanvasRenderingContext2D;
const xOf = (stage: Stage, time: number): number => ((time - stage.t0) / (stage.t1 - stage.t0)) * stage.width;

export function paintSteps(g: G, stage: Stage, steps: readonly StepMark[], colour: string): void {
  const {colours, width} = stage;
  g.fillStyle = colours.surface;
  g.fillRect(0, 0, width, STRIP);
  let lastX = -Infinity;
  for (const step of steps) {
    const a = xOf(stage, step.begin);
    const b = xOf(stage, step.end);
    if (b < 0 || a > width) continue;
    if (a >= 0 && a - lastX > 6) {
      g.fillStyle = colours.line;
      g.fillRect(Math.round(a), 0, 1, stage.height);
      lastX = a;
    }
    const left = Math.max(0, a);
    const right = Math.min(width, b);
    g.fillStyle = colour;
    g.fillRect(left, 2, Math.max(0.8, right - left - 1), STRIP - 4);
    const room = Math.floor((right - left - 8) / 6.1);
    if (room > 2) {
      g.fillStyle = '#ffffff';
      g.textAlign = 'left';
      g.fillText(step.name.length <= room ? step.name : `${step.name.slice(0, room - 1)}…`, left + 4, STRIP / 2);
    }
  }
  g.fillStyle = colours.hairline;
  g.fillRect(0, STRIP - 1, width, 1);
}

export function paintArrows(g: G, stage: Stage, lanes: readonly Lane[], arrows: readonly Arrow[]): void {
  const yOf = (end: ArrowEnd): number | null => {
    const lane = laneOf(lanes, end.track);
    if (lane === null) return null;
    const depth = lane.kind === 'header' ? 0 : Math.min(end.depth, lane.rows - 1);
    return stage.top + lane.top - stage.scroll + 2 + depth * ROW + ROW / 2;
  };
  for (const strong of [false, true]) {
    for (const arrow of arrows) {
      if (arrow.strong !== strong) continue;
      const [y0, y1] = [yOf(arrow.from), yOf(arrow.to)];
      if (y0 === null || y1 === null) continue;
      const x0 = xOf(stage, arrow.from.begin + arrow.from.dur / 2);
      const x1 = xOf(stage, arrow.to.begin);
      if (Math.max(x0, x1) < -50 || Math.min(x0, x1) > stage.width + 50) continue;
      if (Math.max(y0, y1) < stage.top || Math.min(y0, y1) > stage.height) continue;
      const bend = Math.max(24, Math.min(160, Math.abs(y1 - y0) / 2));
      const down = y1 >= y0 ? 1 : -1;
      const path = (): void => {
        g.beginPath();
        g.moveTo(x0, y0);
        g.bezierCurveTo(x0, y0 + down * bend, x1, y1 - down * bend, x1, y1 - down * 5);
      };
      if (strong) {
        path();
        g.strokeStyle = stage.colours.surface;
        g.lineWidth = 4;
        g.stroke();
      }
      path();
      g.strokeStyle = strong ? stage.colours.text : stage.colours.text3;
      g.globalAlpha = strong ? 1 : 0.55;
      g.lineWidth = strong ? 1.6 : 1;
      g.stroke();
      g.beginPath();
      g.moveTo(x1, y1);
      g.lineTo(x1 - 4, y1 - down * 8);
      g.lineTo(x1 + 4, y1 - down * 8);
      g.closePath();
      g.fillStyle = strong ? stage.colours.text : stage.colours.text3;
      g.fill();
      g.globalAlpha = 1;
    }
  }
}

/** A chosen area as a veil, over all lanes or over its own. */
export function paintArea(g: G, stage: Stage, area: Area, lanes: readonly Lane[]): void {
  const a = xOf(stage, area.t0);
  const b = xOf(stage, area.t1);
  if (b < -1 || a > stage.width + 1) return;
  g.fillStyle = stage.colours.select;
  if (area.tracks === null) g.fillRect(a, 0, b - a, stage.height);
  else {
    const chosen = new Set(area.tracks);
    for (const lane of lanes) {
      if (lane.kind === 'header' || !chosen.has(lane.track)) continue;
      const y = Math.max(stage.top, stage.top + lane.top - stage.scroll);
      g.fillRect(a, y, b - a, Math.max(0, stage.top + lane.top - stage.scroll + lane.height - y));
    }
  }
  g.fillStyle = stage.colours.accent;
  g.fillRect(Math.round(a), 0, 1, stage.height);
  g.fillRect(Math.round(b), 0, 1, stage.height);
}

export function paintNotes(g: G, stage: Stage, notes: readonly Note[], palette: readonly string[]): void {
  for (const note of notes) {
    const a = xOf(stage, note.t0);
    const b = Math.max(a + 1, xOf(stage, note.t1));
    if (b < 0 || a > stage.width) continue;
    g.fillStyle = palette[note.colour ?? -1] ?? stage.colours.warn;
    g.globalAlpha = 0.14;
    g.fillRect(a, 0, b - a, stage.height);
    g.globalAlpha = 1;
    g.fillRect(Math.round(a), 0, 1, stage.height);
  }
}
