// How the trace is drawn, beside what a link keeps: colours of the theme and this person's preferences.
import {preferences} from '../../../state/preferences.svelte.ts';
import {theme} from '../../../state/theme.svelte.ts';
import {view} from '../view.svelte.ts';

export interface Look {
  readonly colour: string;
  readonly arrows: string;
  readonly without: readonly string[];
  readonly palette: readonly string[];
  readonly ramp: readonly string[];
  grid: boolean;
}

export const PALETTES = ['standard', 'safe'] as const;
const TOKENS = {standard: {prefix: '--slice-', count: 12}, safe: {prefix: '--slice-safe-', count: 8}} as const;
export const paletteName = (): (typeof PALETTES)[number] =>
  preferences['x_trace_palette'] === 'safe' ? 'safe' : 'standard';

function tokens({prefix, count}: {readonly prefix: string; readonly count: number}): readonly string[] {
  void theme.colours; // a change of theme changes them
  const style = getComputedStyle(document.documentElement);
  return Array.from({length: count}, (_, i) => style.getPropertyValue(`${prefix}${i + 1}`).trim());
}

export function createLook(): Look {
  const palette = $derived(tokens(TOKENS[paletteName()]));
  const ramp = $derived(tokens({prefix: '--slice-ramp-', count: 6}));
  return {
    get colour() {
      return view.colour;
    },
    get arrows() {
      return view.arrows;
    },
    get without() {
      return view.without;
    },
    get palette() {
      return palette;
    },
    get ramp() {
      return ramp;
    },
    get grid() {
      return preferences['x_trace_grid'] !== false;
    },
    set grid(on) {
      preferences['x_trace_grid'] = on;
    },
  };
}
