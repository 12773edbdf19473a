import {expect, test} from 'vitest';
import {blocksOf, spansOf} from './markdown.ts';

test('blocks of a note', () => {
  expect(
    blocksOf('# Title\n\nfirst\nsecond\n- item\n2. step\n```\nx <b>\n```').map(block => [
      block.kind,
      block.spans.map(span => span.text).join(''),
    ]),
  ).toEqual([
    ['heading', 'Title'],
    ['paragraph', 'first second'],
    ['item', 'item'],
    ['step', 'step'],
    ['code', 'x <b>'],
  ]);
  expect(blocksOf('```\nnot closed').map(block => block.kind)).toEqual(['code']);
  expect(blocksOf('')).toEqual([]);
});

test('what stands inside a line', () => {
  expect(spansOf('a **b** *c* `d` [e](https://x.y/z)')).toEqual([
    {kind: 'text', text: 'a '},
    {kind: 'strong', text: 'b'},
    {kind: 'text', text: ' '},
    {kind: 'em', text: 'c'},
    {kind: 'text', text: ' '},
    {kind: 'code', text: 'd'},
    {kind: 'text', text: ' '},
    {kind: 'link', text: 'e', href: 'https://x.y/z'},
  ]);
  expect(spansOf('[no](javascript:alert(1)) <i>')).toEqual([{kind: 'text', text: '[no](javascript:alert(1)) <i>'}]);
});
