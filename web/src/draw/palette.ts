// Data colours: run slots, shades within a group, sequential and diverging maps. The numbers are
// computed (palette.json); nothing here invents a colour.
import palette from './palette.json';

export interface LineStyle {
  readonly colour: string;
  readonly dash: readonly number[];
}

const DASHES: readonly (readonly number[])[] = [[], [6, 3], [2, 2], [8, 2, 2, 2]];
const SHADES = [0, 0.3, 0.12, 0.4, 0.2, 0.06];

/** Slots beyond 24 repeat the colours with another dash. */
export function slotStyle(slot: number, dark: boolean): LineStyle {
  const colours = dark ? palette.runs.dark : palette.runs.light;
  const safe = Math.max(0, Math.floor(slot));
  return {colour: colours[safe % colours.length]!, dash: DASHES[Math.floor(safe / colours.length) % DASHES.length]!};
}

/** The paint of a swatch: the colour, striped as the line is dashed. */
export function swatchPaint({colour, dash}: LineStyle): string {
  if (dash.length === 0) return colour;
  const period = dash.reduce((sum, one) => sum + one, 0);
  const repeats = period <= 4 ? 2 : 1;
  let at = 0;
  const stops = dash.map((length, i) => {
    const from = at;
    at += length;
    const share = (px: number): string => `${((100 * px) / period / repeats).toFixed(1)}%`;
    return `${i % 2 === 0 ? colour : 'transparent'} ${share(from)} ${share(at)}`;
  });
  return `repeating-linear-gradient(90deg, ${stops.join(', ')})`;
}

/** Several tags of one run keep its colour: each has a dash of its own, then also a shade. */
export function tagStyle({colour}: LineStyle, index: number, dark: boolean): LineStyle {
  const round = Math.floor(index / DASHES.length);
  return {colour: round === 0 ? colour : shade(colour, round, dark), dash: DASHES[index % DASHES.length]!};
}

/** A member's shade of its group's colour. */
export function shade(colour: string, member: number, dark: boolean): string {
  const k = SHADES[member % SHADES.length]! * (dark ? 0.75 : 0.9);
  const target = dark ? 255 : 0;
  const [r, g, b] = channels(colour);
  const mix = (v: number): number => Math.round(v + (target - v) * k);
  return hex(mix(r), mix(g), mix(b));
}

type MapName = 'seq' | 'ember' | 'div';
const MAPS = palette as unknown as Record<MapName, {light: string[]; dark: string[]} | string[]>;

export function mapStops(name: MapName, dark: boolean): readonly string[] {
  const map = MAPS[name];
  return Array.isArray(map) ? map : dark ? map.dark : map.light;
}

/** A colour of a map at t in [0, 1], interpolated between its stops. */
export function mapColour(name: MapName, t: number, dark: boolean): string {
  const stops = mapStops(name, dark);
  const at = Math.max(0, Math.min(1, Number.isFinite(t) ? t : 0)) * (stops.length - 1);
  const i = Math.min(stops.length - 2, Math.floor(at));
  const a = channels(stops[i]!);
  const b = channels(stops[i + 1]!);
  const f = at - i;
  return hex(...(a.map((v, k) => Math.round(v + (b[k]! - v) * f)) as [number, number, number]));
}

const faded = new Map<number, Map<string, string>>(); // opacity → colour → css: asked for every line of every paint

export function alpha(colour: string, opacity: number): string {
  let known = faded.get(opacity);
  if (known === undefined) {
    if (faded.size > 64) faded.clear();
    faded.set(opacity, (known = new Map()));
  }
  let css = known.get(colour);
  if (css === undefined) {
    const [r, g, b] = channels(colour);
    css = /^#[0-9a-f]{6}$/i.test(colour) ? `rgba(${r},${g},${b},${opacity})` : colour;
    if (known.size > 1000) known.clear();
    known.set(colour, css);
  }
  return css;
}

export function channels(colour: string): [number, number, number] {
  const digits = colour.length === 4 ? colour.slice(1).replace(/./g, '$&$&') : colour.slice(1, 7); // "#fff" is "#ffffff"
  const n = parseInt(digits, 16) || 0;
  return [n >> 16, (n >> 8) & 255, n & 255];
}

function hex(r: number, g: number, b: number): string {
  return '#' + [r, g, b].map(v => v.toString(16).padStart(2, '0')).join('');
}
