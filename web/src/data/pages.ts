// Pages of panels, as the sidecar and page files hold them. What a file says may be anything: only what is well-formed
// is taken.
import type {LineSettings} from './chart-series.ts';

export const GRID_COLUMNS = 12;
const MOST_ROWS = 80;
const MOST_PANELS = 400;

export const PANEL_KINDS = [
  'line',
  'text',
  'bar',
  'box',
  'scatter',
  'number',
  'image',
  'histogram',
  'words',
  'table',
] as const;
export type PanelKind = (typeof PANEL_KINDS)[number];

/** What a single number tells of the values of all runs. */
export const NUMBER_PICKS = ['min', 'max', 'mean', 'newest'] as const;
export type NumberPick = (typeof NUMBER_PICKS)[number];

export interface Panel {
  readonly id: string; // unique within its page
  readonly kind: PanelKind;
  readonly w: number; // columns of the grid
  readonly h: number; // rows of the grid; a text takes what it needs
  readonly title?: string;
  readonly text?: string; // Markdown
  readonly y?: readonly string[]; // tags of the lines (of an image, histogram, text: the tag; of a table: its name); after "=" expressions over tags
  readonly y2?: readonly string[]; // those of `y` that have the axis at the right
  readonly values?: readonly string[]; // columns of the run table; a scatter plot has two, x first
  readonly pick?: NumberPick;
  readonly set?: Partial<LineSettings>; // what differs from the page's settings
}

export interface PanelPage {
  readonly title: string;
  readonly order: number;
  readonly panels: readonly Panel[];
  readonly runs: readonly string[] | null; // names; null: those selected in the run table
  readonly settings: Partial<LineSettings>;
}

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isText = (value: unknown): value is string => typeof value === 'string';
const textsOf = (value: unknown): string[] => (Array.isArray(value) ? value.filter(isText) : []);
const within = (value: unknown, most: number, fallback: number): number =>
  typeof value === 'number' && Number.isFinite(value) ? Math.max(1, Math.min(most, Math.round(value))) : fallback;

const SCALES = ['linear', 'log', 'symlog'];
const FITS: {readonly [K in keyof LineSettings]: (value: unknown) => boolean} = {
  x: isText,
  xscale: value => SCALES.includes(value as string),
  yscale: value => SCALES.includes(value as string),
  smooth: value =>
    isFields(value) && ['none', 'ema', 'mean', 'gauss'].includes(value['kind'] as string) && isNumber(value['p']),
  ghost: isNumber,
  outliers: isNumber,
  ymin: value => value === null || isNumber(value),
  ymax: value => value === null || isNumber(value),
  centre: value => value === 'mean' || value === 'median',
  band: isText,
  members: value => ['hide', 'thin', 'full'].includes(value as string),
  share: isNumber,
};

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

function cleanSettings(value: unknown): Partial<LineSettings> {
  if (!isFields(value)) return {};
  const kept = Object.entries(FITS).filter(([key, fits]) => key in value && fits(value[key]));
  return Object.fromEntries(kept.map(([key]) => [key, value[key]])) as Partial<LineSettings>;
}

function cleanPanel(value: unknown, index: number): Panel[] {
  if (!isFields(value) || !PANEL_KINDS.includes(value['kind'] as PanelKind)) return [];
  const settings = cleanSettings(value['set']);
  return [
    {
      id: isText(value['id']) && value['id'] !== '' ? value['id'] : `p${index}`,
      kind: value['kind'] as PanelKind,
      w: within(value['w'], GRID_COLUMNS, 4),
      h: within(value['h'], MOST_ROWS, 10),
      ...(isText(value['title']) ? {title: value['title']} : {}),
      ...(isText(value['text']) ? {text: value['text']} : {}),
      ...(Array.isArray(value['y']) ? {y: textsOf(value['y'])} : {}),
      ...(Array.isArray(value['y2']) ? {y2: textsOf(value['y2'])} : {}),
      ...(Array.isArray(value['values']) ? {values: textsOf(value['values'])} : {}),
      ...(NUMBER_PICKS.includes(value['pick'] as NumberPick) ? {pick: value['pick'] as NumberPick} : {}),
      ...(Object.keys(settings).length > 0 ? {set: settings} : {}),
    },
  ];
}

export function cleanPage(value: unknown): PanelPage | null {
  if (!isFields(value) || !isText(value['title']) || !Array.isArray(value['panels'])) return null;
  const panels = value['panels'].slice(0, MOST_PANELS).flatMap(cleanPanel);
  const known = new Set<string>();
  return {
    title: value['title'],
    order: isNumber(value['order']) ? value['order'] : 0,
    panels: panels.filter(one => !known.has(one.id) && known.add(one.id)),
    runs: Array.isArray(value['runs']) ? textsOf(value['runs']) : null,
    settings: cleanSettings(value['settings']),
  };
}

/** The pages of a sidecar by id, in their order. */
export function cleanPages(value: unknown): Map<string, PanelPage> {
  if (!isFields(value)) return new Map();
  const all = Object.entries(value).flatMap(([id, one]): [string, PanelPage][] => {
    const page = cleanPage(one);
    return page === null ? [] : [[id, page]];
  });
  return new Map(all.sort(([, a], [, b]) => a.order - b.order));
}
