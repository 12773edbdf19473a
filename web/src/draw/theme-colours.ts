// What canvas code draws with: the tokens of tokens.css as plain values.

export interface ThemeColours {
  readonly bg: string;
  readonly surface: string;
  readonly sunken: string;
  readonly text: string;
  readonly text2: string;
  readonly text3: string;
  readonly textOff: string;
  readonly textOnAccent: string;
  readonly hairline: string;
  readonly line: string;
  readonly lineStrong: string;
  readonly grid: string;
  readonly axis: string;
  readonly accent: string;
  readonly accentSoft: string;
  readonly select: string;
  readonly ok: string;
  readonly warn: string;
  readonly bad: string;
  readonly band: number; // opacity of bands
  readonly ghost: number; // opacity of the raw line behind a smoothed one
  readonly extent: number; // opacity of min/max extents
  readonly font: string; // family
  readonly mono: string;
  readonly dark: boolean;
  readonly forced: boolean; // forced colours: series are told apart by dashes only
}

export function readThemeColours(root: Element): ThemeColours {
  const style = getComputedStyle(root);
  const get = (name: string): string => style.getPropertyValue(name).trim();
  const dark = get('color-scheme') === 'dark' || root.getAttribute('data-theme') === 'dark';
  const forced = matchMedia('(forced-colors: active)').matches;
  const pick = (name: string, system: string): string => (forced ? system : get(name));
  return {
    bg: pick('--bg', 'Canvas'),
    surface: pick('--surface', 'Canvas'),
    sunken: pick('--sunken', 'Canvas'),
    text: pick('--text', 'CanvasText'),
    text2: pick('--text-2', 'CanvasText'),
    text3: pick('--text-3', 'CanvasText'),
    textOff: pick('--text-off', 'GrayText'),
    textOnAccent: pick('--text-on-accent', 'HighlightText'),
    hairline: pick('--hairline', 'GrayText'),
    line: pick('--line', 'GrayText'),
    lineStrong: pick('--line-strong', 'CanvasText'),
    grid: pick('--grid', 'GrayText'),
    axis: pick('--axis', 'CanvasText'),
    accent: pick('--accent', 'Highlight'),
    accentSoft: pick('--accent-soft', 'Canvas'),
    select: pick('--select', 'transparent'),
    ok: get('--ok'),
    warn: get('--warn'),
    bad: get('--bad'),
    band: Number(get('--band')) || 0.16,
    ghost: Number(get('--ghost')) || 0.28,
    extent: dark ? 0.42 : 0.36,
    font: get('--font') || 'sans-serif',
    mono: get('--mono') || 'monospace',
    dark,
    forced,
  };
}
