// The part of Markdown that notes need, as a structure: whoever shows it makes text nodes of it, never markup.

export interface Span {
  readonly kind: 'text' | 'strong' | 'em' | 'code' | 'link';
  readonly text: string;
  readonly href?: string;
}
export interface Block {
  readonly kind: 'heading' | 'paragraph' | 'item' | 'step' | 'code';
  readonly spans: readonly Span[];
}

const INLINE = /`([^`]+)`|\*\*([^*]+)\*\*|\*([^*\s][^*]*)\*|\[([^\]]+)\]\((https?:\/\/[^\s)]+|#[^\s)]*)\)/g;

export function spansOf(text: string): readonly Span[] {
  const spans: Span[] = [];
  let at = 0;
  for (const match of text.matchAll(INLINE)) {
    if (match.index > at) spans.push({kind: 'text', text: text.slice(at, match.index)});
    const [whole, code, strong, em, label, href] = match;
    if (code !== undefined) spans.push({kind: 'code', text: code});
    else if (strong !== undefined) spans.push({kind: 'strong', text: strong});
    else if (em !== undefined) spans.push({kind: 'em', text: em});
    else spans.push({kind: 'link', text: label!, href: href!});
    at = match.index + whole.length;
  }
  if (at < text.length) spans.push({kind: 'text', text: text.slice(at)});
  return spans;
}

export function blocksOf(source: string): readonly Block[] {
  const blocks: Block[] = [];
  let paragraph: string[] = [];
  let code: string[] | null = null;
  const flush = (): void => {
    if (paragraph.length > 0) blocks.push({kind: 'paragraph', spans: spansOf(paragraph.join(' '))});
    paragraph = [];
  };
  for (const line of source.split('\n')) {
    if (code !== null) {
      if (line.startsWith('```')) {
        blocks.push({kind: 'code', spans: [{kind: 'text', text: code.join('\n')}]});
        code = null;
      } else code.push(line);
      continue;
    }
    const [, mark, rest] = /^(#{1,6}|[-*]|\d+[.)])\s+(.*)$/.exec(line.trim()) ?? [];
    if (line.startsWith('```')) {
      flush();
      code = [];
    } else if (mark !== undefined) {
      flush();
      blocks.push({kind: mark.startsWith('#') ? 'heading' : /\d/.test(mark) ? 'step' : 'item', spans: spansOf(rest!)});
    } else if (line.trim() === '') flush();
    else paragraph.push(line.trim());
  }
  flush();
  if (code !== null) blocks.push({kind: 'code', spans: [{kind: 'text', text: code.join('\n')}]}); // not closed yet
  return blocks;
}
