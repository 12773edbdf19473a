// Keys that the focused control uses itself: a command of the same key must not take them away from it.

const PRESSED =
  'button, summary, select, input:not([type=range]), [role=button], [role=switch], [role=checkbox], [role=radio], [role=option], [role=menuitem], [role=tab], [role=treeitem]';
const FOLLOWED =
  'a[href], button, summary, select, [role=button], [role=option], [role=menuitem], [role=tab], [role=treeitem]';
const MOVED =
  'input[type=range], input[type=radio], input[type=number], select, [role=slider], [role=spinbutton], [role=radio], [role=option], [role=menuitem], [role=tab], [role=treeitem], [role=separator][tabindex]';

export function usesKey(target: EventTarget | null, key: string): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (key === ' ') return target.matches(PRESSED);
  if (key === 'Enter') return target.matches(FOLLOWED);
  if (!key.startsWith('Arrow')) return false;
  // A focused region that is wider than its frame scrolls by the keys.
  const scrolls =
    (key === 'ArrowLeft' || key === 'ArrowRight') &&
    target !== document.body &&
    target.tabIndex >= 0 &&
    target.scrollWidth > target.clientWidth &&
    getComputedStyle(target).overflowX !== 'visible' &&
    !target.matches(PRESSED);
  return scrolls || target.matches(MOVED);
}
