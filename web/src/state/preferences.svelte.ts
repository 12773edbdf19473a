// This person's preferences, kept in the browser and not in links: theme, density, panel sizes, tooltip.

export interface Preferences {
  theme: 'system' | 'light' | 'dark';
  density: 'compact' | 'comfortable';
  panelWidth: number; // 0 = closed
  inspectorOpen: boolean;
  cardMin: number;
  tooltipRows: number;
  tooltipSort: 'nearest' | 'nearest_y' | 'ascending' | 'descending' | 'name';
  singleKeys: boolean; // single-letter shortcuts
  dashes: boolean; // dashes for all runs
  pageSize: number; // cards of a section before "show more"
  pollSeconds: number;
  savePins: boolean;
  recentCommands: string[];
  hintsRead: number; // of those a first visit shows
  [other: `x_${string}`]: unknown; // dashboards' own preferences
}

const DEFAULTS: Preferences = {
  theme: 'system',
  density: matchMedia?.('(pointer: coarse)').matches ? 'comfortable' : 'compact',
  panelWidth: 288,
  inspectorOpen: true,
  cardMin: 280,
  tooltipRows: 7,
  tooltipSort: 'nearest',
  singleKeys: true,
  dashes: false,
  pageSize: 60,
  pollSeconds: 30,
  savePins: true,
  recentCommands: [],
  hintsRead: 0,
};
const KEY = 'sonde.habits';

function load(): Preferences {
  try {
    const stored = JSON.parse(localStorage.getItem(KEY) ?? '{}') as Partial<Preferences>;
    return {...DEFAULTS, ...stored};
  } catch {
    return {...DEFAULTS};
  }
}

export const preferences: Preferences = $state(load());

/** How wide the run panel is in a window of this width; 0 = closed. */
export function panelWidthIn(width: number): number {
  return width < 900 ? Math.min(preferences.panelWidth, 200) : preferences.panelWidth;
}
export const NARROW = 640; // below: the run panel is a sheet

/** Called once by the shell. */
export function keepPreferences(): () => void {
  return $effect.root(() => {
    $effect(() => {
      const changed: Record<string, unknown> = {};
      for (const [key, value] of Object.entries($state.snapshot(preferences))) {
        if (JSON.stringify(value) !== JSON.stringify(DEFAULTS[key as keyof Preferences])) changed[key] = value;
      }
      try {
        localStorage.setItem(KEY, JSON.stringify(changed));
      } catch {
        // storage may be off (private frame): preferences last as long as the page
      }
    });
  });
}
