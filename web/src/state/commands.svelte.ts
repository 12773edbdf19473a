// What the command palette and the keyboard can do. A dashboard adds its commands while it is in view.
import {usesKey} from './own-keys.ts';

export interface Command {
  readonly id: string;
  readonly text: string;
  readonly icon?: string;
  readonly keys?: string; // "Ctrl+K", "g t", "/" …; empty = palette only
  readonly group?: 'command' | 'tag' | 'run' | 'page' | 'setting';
  readonly hint?: string;
  run(): void;
}

let list = $state.raw<readonly Command[]>([]);

export const commands = {
  get all(): readonly Command[] {
    return list;
  },
};

/** Adds commands; returns the function that takes them away again. */
export function addCommands(added: readonly Command[]): () => void {
  list = [...list, ...added];
  return () => {
    list = list.filter(command => !added.includes(command));
  };
}

let prefix = '';
let prefixAt = 0;

/** Runs the command whose keys were pressed, unless the focused control uses them itself. Returns whether one was found. */
export function pressKey(event: KeyboardEvent, singles: boolean): boolean {
  const mods = `${event.ctrlKey || event.metaKey ? 'Ctrl+' : ''}${event.altKey ? 'Alt+' : ''}`;
  const name = event.key.length === 1 && mods !== '' ? event.key.toUpperCase() : event.key;
  // A letter says by its case whether Shift is held; an arrow does not.
  const key = `${mods}${event.shiftKey && (mods !== '' || event.key.startsWith('Arrow')) ? 'Shift+' : ''}${name}`;
  const now = performance.now();
  const typed = prefix !== '' && now - prefixAt < 1500 ? `${prefix} ${key}` : key;
  prefix = '';
  if (mods === '' && usesKey(event.target, event.key)) return false;
  if (mods === '' && !singles && event.key.length === 1) return false;
  const found = list.findLast(command => command.keys === typed);
  if (found !== undefined) {
    found.run();
    return true;
  }
  if (list.some(command => command.keys?.startsWith(`${typed} `))) {
    prefix = typed;
    prefixAt = now;
    return true;
  }
  return false;
}

const NO_TEXT = ['checkbox', 'radio', 'range', 'button']; // inputs that take no letters

/** Whether the key belongs to a field that text is typed into; Ctrl K is the page's everywhere. */
export function isTyping(event: KeyboardEvent): boolean {
  const target = event.target as HTMLElement;
  const inText =
    target.isContentEditable ||
    target.tagName === 'TEXTAREA' ||
    target.tagName === 'SELECT' ||
    (target.tagName === 'INPUT' && !NO_TEXT.includes((target as HTMLInputElement).type));
  return inText && !((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k');
}
