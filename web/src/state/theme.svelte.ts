// Light or dark, and the colours that canvas code draws with: tokens read once per change.
import {readThemeColours, type ThemeColours} from '../draw/theme-colours.ts';
import {preferences} from './preferences.svelte.ts';

const system = matchMedia('(prefers-color-scheme: dark)');
const inner = $state({systemDark: system.matches, contrast: 0});
let colours = $state.raw<ThemeColours | null>(null);

export const theme = {
  get dark(): boolean {
    return preferences.theme === 'dark' || (preferences.theme === 'system' && inner.systemDark);
  },
  /** Colours and sizes for canvas code; a new object after every change of theme or density. */
  get colours(): ThemeColours {
    return colours ?? readThemeColours(document.documentElement);
  },
};

export function applyTheme(): void {
  const root = document.documentElement;
  root.dataset['theme'] = theme.dark ? 'dark' : 'light';
  root.dataset['density'] = preferences.density;
  colours = readThemeColours(root);
}

export function keepTheme(): () => void {
  const onChange = (): void => void (inner.systemDark = system.matches);
  const forced = matchMedia('(forced-colors: active)');
  const more = matchMedia('(prefers-contrast: more)');
  const onContrast = (): void => void inner.contrast++;
  system.addEventListener('change', onChange);
  forced.addEventListener('change', onContrast);
  more.addEventListener('change', onContrast);
  const stop = $effect.root(() => {
    $effect.pre(() => {
      void inner.contrast;
      applyTheme();
    });
  });
  return () => {
    stop();
    system.removeEventListener('change', onChange);
    forced.removeEventListener('change', onContrast);
    more.removeEventListener('change', onContrast);
  };
}
