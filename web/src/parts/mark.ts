// Marks where a searched text occurs inside an element, by ranges that the browser paints: the element's
// nodes stay as they are. Browsers without this API simply show no marks.
import type {Attachment} from 'svelte/attachments';

const NAME = 'sonde-found';
const MOST = 2000;
const found = new Map<Element, Range[]>();

function paint(): void {
  if (!('highlights' in CSS)) return;
  const ranges = [...found.values()].flat();
  if (ranges.length === 0) CSS.highlights.delete(NAME);
  else CSS.highlights.set(NAME, new Highlight(...ranges));
}

export function rangesOf(root: Element, q: string): Range[] {
  const wanted = q.toLowerCase();
  const out: Range[] = [];
  if (wanted === '') return out;
  const walk = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node = walk.nextNode(); node !== null; node = walk.nextNode()) {
    const text = (node.nodeValue ?? '').toLowerCase();
    for (let at = text.indexOf(wanted); at >= 0 && out.length < MOST; at = text.indexOf(wanted, at + wanted.length)) {
      const range = document.createRange();
      range.setStart(node, at);
      range.setEnd(node, at + wanted.length);
      out.push(range);
    }
  }
  return out;
}

export function mark(q: string): Attachment<Element> {
  return element => {
    const update = (): void => {
      const ranges = rangesOf(element, q);
      if (ranges.length > 0) found.set(element, ranges);
      else found.delete(element);
      paint();
    };
    update();
    const watch = new MutationObserver(update);
    if (q !== '') watch.observe(element, {childList: true, subtree: true, characterData: true});
    return () => {
      watch.disconnect();
      found.delete(element);
      paint();
    };
  };
}
