// The keyboard of the run table: one Tab stop, arrows between rows and into the head, letters that find a name.
import type {Run} from '../data/types.ts';
import {runs, setShown, showOnly} from '../state/runs.svelte.ts';
import type {Row} from './rows.ts';

const TYPING_MS = 800; // letters that follow each other sooner are one name
const PAGE = 20;

export interface RunTable {
  rows(): readonly Row[];
  at(): number;
  /** Moves the row with the keyboard there and into view. */
  go(index: number): void;
  box(): HTMLElement | undefined;
  fold(key: string): void;
  open(run: Run): void;
  colour(run: Run): void;
}

const members = (row: Row): readonly Run[] => (row.kind === 'group' ? row.group.members : [row.run]);

export function createRunKeys(table: RunTable): (event: KeyboardEvent) => void {
  let typed = '';
  let typedAt = -Infinity;
  const isTyping = (): boolean => performance.now() - typedAt < TYPING_MS;

  const go = (next: number): boolean => {
    const rows = table.rows();
    const at = Math.max(0, Math.min(rows.length - 1, next));
    table.go(at);
    const row = rows[at];
    runs.hot = row?.kind === 'run' ? row.run.id : null;
    // The row is drawn in the next frame.
    requestAnimationFrame(() =>
      table.box()?.querySelector<HTMLElement>('[data-row][tabindex="0"]')?.focus({preventScroll: true}),
    );
    return true;
  };
  /** Goes to the run whose name begins with what was typed; a key that begins no name is somebody else's. */
  const type = (key: string): boolean => {
    const next = isTyping() ? typed + key : key;
    const found = table
      .rows()
      .findIndex(one => one.kind === 'run' && runs.nameOf(one.run).toLowerCase().startsWith(next.toLowerCase()));
    if (found < 0 && next === key) return false;
    [typed, typedAt] = [next, performance.now()];
    return found < 0 || go(found);
  };
  const inHead = (key: string, heads: readonly HTMLElement[], at: number): boolean => {
    const by = {ArrowLeft: -1, ArrowRight: 1}[key];
    if (by !== undefined) heads[Math.max(0, Math.min(heads.length - 1, at + by))]?.focus();
    else if (key === 'ArrowDown') return go(table.at());
    else return false;
    return true;
  };
  const moves = (key: string): number | undefined =>
    ({
      ArrowDown: table.at() + 1,
      ArrowUp: table.at() - 1,
      Home: 0,
      End: table.rows().length - 1,
      PageDown: table.at() + PAGE,
      PageUp: table.at() - PAGE,
    })[key];
  const onRow = (key: string, row: Row): boolean => {
    if (key.length === 1 && isTyping()) type(key);
    else if (key === ' ') setShown(members(row), !members(row).every(run => runs.isShown(run.id)));
    else if (key === 'o') showOnly(members(row));
    else if ((key === 'ArrowLeft' || key === 'ArrowRight') && row.kind === 'group') {
      if (row.open === (key === 'ArrowLeft')) table.fold(row.group.key);
    } else if (key === 'Enter' && row.kind === 'run') table.open(row.run);
    else if (key === 'c' && row.kind === 'run') table.colour(row.run);
    else return key.length === 1 && type(key);
    return true;
  };

  const handled = (event: KeyboardEvent): boolean => {
    const heads = [...(table.box()?.querySelectorAll<HTMLElement>('[data-head] :is(input, button)') ?? [])];
    const head = heads.indexOf(event.target as HTMLElement);
    if (head >= 0) return inHead(event.key, heads, head);
    if (event.key === 'ArrowUp' && table.at() === 0) {
      heads[0]?.focus();
      return true;
    }
    const to = moves(event.key);
    if (to !== undefined) return go(to);
    const row = table.rows()[table.at()];
    return row !== undefined && onRow(event.key, row);
  };

  return event => {
    const target = event.target as HTMLElement;
    if (target instanceof HTMLInputElement && target.type !== 'checkbox') return;
    if (event.ctrlKey || event.metaKey || event.altKey || !handled(event)) return;
    event.preventDefault();
    event.stopPropagation();
  };
}
