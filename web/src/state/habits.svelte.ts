// This person's habits, kept in the browser and not in links: theme, density, panel sizes, tooltip.

export interface Habits {
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
  [other: `x_${string}`]: unknown; // dashboards' own habits
}

const DEFAULTS: Habits = {
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
};
const KEY = 'sonde.habits';

function load(): Habits {
  try {
    const stored = JSON.parse(localStorage.getItem(KEY) ?? '{}') as Partial<Habits>;
    return {...DEFAULTS, ...stored};
  } catch {
    return {...DEFAULTS};
  }
}

export const habits: Habits = $state(load());

/** How wide the run panel is in a window of this width; 0 = closed. */
export function panelWidthIn(width: number): number {
  return width < 900 ? Math.min(habits.panelWidth, 200) : habits.panelWidth;
}
export const NARROW = 640; // below: the run panel is a sheet

/** Called once by the shell. */
export function keepHabits(): () => void {
  return $effect.root(() => {
    $effect(() => {
      const changed: Record<string, unknown> = {};
      for (const [key, value] of Object.entries($state.snapshot(habits))) {
        if (JSON.stringify(value) !== JSON.stringify(DEFAULTS[key as keyof Habits])) changed[key] = value;
      }
      try {
        localStorage.setItem(KEY, JSON.stringify(changed));
      } catch {
        // storage may be off (private frame): habits last as long as the page
      }
    });
  });
}
