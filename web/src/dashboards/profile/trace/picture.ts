// The view as a picture: names at the left, the axis above, the lanes as they are on the screen.
import type {ThemeColours} from '../../../draw/theme-colours.ts';
import {timeTicks} from '../../../draw/trace/time-axis.ts';
import type {Clock} from './clock.ts';
import {LABELS_PX} from './model.ts';

export interface PicturedPane {
  readonly canvas: HTMLCanvasElement;
  readonly lanes: readonly {
    readonly name: string;
    readonly top: number;
    readonly height: number;
    readonly header: boolean;
  }[];
  readonly width: number;
  readonly height: number;
}

const AXIS = 24;
const TITLE = 26;

export function pictureOf(
  panes: readonly PicturedPane[],
  text: {readonly title: string; readonly clock: Clock; readonly t0: number; readonly t1: number},
  colours: ThemeColours,
): Promise<Blob | null> {
  const ratio = Math.max(1, globalThis.devicePixelRatio || 1);
  const width = LABELS_PX + Math.max(...panes.map(pane => pane.width));
  const height = TITLE + AXIS + panes.reduce((sum, pane) => sum + pane.height, 0);
  const out = document.createElement('canvas');
  [out.width, out.height] = [Math.round(width * ratio), Math.round(height * ratio)];
  const g = out.getContext('2d');
  if (g === null) return Promise.resolve(null);
  g.scale(ratio, ratio);
  g.fillStyle = colours.surface;
  g.fillRect(0, 0, width, height);
  g.textBaseline = 'middle';
  g.font = `600 12px ${colours.font}`;
  g.fillStyle = colours.text;
  g.fillText(text.title, 8, TITLE / 2, width - 16);
  g.font = `10.5px ${colours.font}`;
  const axis = timeTicks(text.t0 - text.clock.origin, text.t1 - text.clock.origin, width - LABELS_PX);
  const label = text.clock.labels(text.t0, text.t1, axis.step);
  g.fillStyle = colours.text3;
  g.fillText(text.clock.title, 8, TITLE + AXIS / 2, LABELS_PX - 16);
  for (const tick of axis.ticks) {
    const x = LABELS_PX + ((tick + text.clock.origin - text.t0) / (text.t1 - text.t0)) * (width - LABELS_PX);
    g.fillStyle = colours.axis;
    g.fillRect(Math.round(x), TITLE, 1, AXIS);
    g.fillStyle = colours.text3;
    g.fillText(label(tick + text.clock.origin), x + 4, TITLE + AXIS / 2);
  }
  let top = TITLE + AXIS;
  for (const pane of panes) {
    g.drawImage(pane.canvas, LABELS_PX, top, pane.width, pane.height);
    g.save();
    g.beginPath();
    g.rect(0, top, LABELS_PX, pane.height);
    g.clip();
    for (const lane of pane.lanes) {
      g.fillStyle = lane.header ? colours.sunken : colours.surface;
      g.fillRect(0, top + lane.top, LABELS_PX, lane.height);
      g.fillStyle = colours.hairline;
      g.fillRect(0, top + lane.top + lane.height - 1, LABELS_PX, 1);
      g.fillStyle = colours.text;
      g.font = `${lane.header ? 600 : 400} 10.5px ${colours.font}`;
      g.fillText(lane.name, lane.header ? 8 : 18, top + lane.top + Math.min(lane.height, 22) / 2, LABELS_PX - 24);
    }
    g.restore();
    g.fillStyle = colours.line;
    g.fillRect(0, top, width, 1);
    g.fillRect(LABELS_PX - 1, top, 1, pane.height);
    top += pane.height;
  }
  return new Promise(resolve => out.toBlob(resolve, 'image/png'));
}
