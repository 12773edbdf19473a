// A sound clip as its extremes over time, one lane a channel, with the played part and a cursor.
import type {ThemeColours} from './theme-colours.ts';
import {setFont, type Size} from './plane.ts';

export interface Peaks {
  readonly channels: number;
  readonly seconds: number;
  readonly min: Float32Array; // columns × channels, one channel after the other
  readonly max: Float32Array;
}

export interface WaveOptions {
  readonly colours: ThemeColours;
  readonly colour: string;
  readonly position: number; // seconds
  readonly hover: number | null; // seconds
  readonly timeLabel: (seconds: number) => string;
}

/** Left and right edge of the wave inside the canvas. */
export const WAVE_PAD_PX = 8;

export function drawWave(g: CanvasRenderingContext2D, size: Size, peaks: Peaks, options: WaveOptions): void {
  const {colours} = options;
  const columns = peaks.channels > 0 ? Math.floor(peaks.min.length / peaks.channels) : 0;
  const width = size.width - 2 * WAVE_PAD_PX;
  const bottom = size.height - 16;
  const lane = bottom / Math.max(1, peaks.channels);
  const played = peaks.seconds > 0 ? (options.position / peaks.seconds) * width : 0;
  for (let c = 0; c < peaks.channels; c++) {
    const middle = lane * (c + 0.5);
    const reach = lane / 2 - 3;
    g.fillStyle = colours.grid;
    g.fillRect(WAVE_PAD_PX, Math.round(middle), width, 1);
    let [before, after] = [NaN, NaN]; // extent of the column before
    for (let px = 0; px < width && columns > 0; px++) {
      const from = Math.floor((px / width) * columns);
      const to = Math.max(from + 1, Math.floor(((px + 1) / width) * columns));
      let [lo, hi] = [Infinity, -Infinity];
      for (let i = from; i < to && i < columns; i++) {
        lo = Math.min(lo, peaks.min[c * columns + i]!);
        hi = Math.max(hi, peaks.max[c * columns + i]!);
      }
      if (!(hi >= lo)) continue;
      const [low, high] = [lo, hi];
      // Neighbouring columns meet, so that a short clip is a line and not dots.
      if (lo > after) lo = after;
      if (hi < before) hi = before;
      [before, after] = [low, high];
      const top = middle - Math.min(1, Math.max(-1, hi)) * reach;
      g.fillStyle = options.colour;
      g.globalAlpha = px <= played ? 1 : 0.45;
      g.fillRect(WAVE_PAD_PX + px, top, 1, Math.max(1, middle - Math.min(1, Math.max(-1, lo)) * reach - top));
    }
    g.globalAlpha = 1;
  }
  setFont(g, colours);
  g.fillStyle = colours.text3;
  g.textBaseline = 'alphabetic';
  g.textAlign = 'left';
  g.fillText(options.timeLabel(0), WAVE_PAD_PX, size.height - 4);
  g.textAlign = 'right';
  g.fillText(options.timeLabel(peaks.seconds), size.width - WAVE_PAD_PX, size.height - 4);
  for (const [at, colour] of [
    [options.hover, colours.lineStrong],
    [options.position > 0 ? options.position : null, colours.accent],
  ] as const) {
    if (at === null || !(peaks.seconds > 0)) continue;
    g.fillStyle = colour;
    g.fillRect(Math.round(WAVE_PAD_PX + (at / peaks.seconds) * width), 0, 1, bottom);
  }
}

/** Seconds under a pixel, within the clip. */
export function waveTimeAt(x: number, widthPx: number, seconds: number): number {
  const share = (x - WAVE_PAD_PX) / Math.max(1, widthPx - 2 * WAVE_PAD_PX);
  return Math.max(0, Math.min(1, share)) * seconds;
}
