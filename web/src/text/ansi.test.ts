import {describe, expect, it} from 'vitest';
import {ansiPieces, visible} from './ansi.ts';

const texts = (line: string): string =>
  ansiPieces(line)
    .map(one => one.text)
    .join('');

describe('terminal output', () => {
  it('keeps colours and weights', () => {
    const pieces = ansiPieces('a \x1b[1;31mred\x1b[0m \x1b[94mblue\x1b[39m');
    expect(pieces.map(one => [one.text, one.colour, one.bold])).toEqual([
      ['a ', null, false],
      ['red', 1, true],
      [' ', null, false],
      ['blue', 12, false],
    ]);
  });
  it('drops other escapes: cursor moves, titles, links, unfinished ones', () => {
    expect(texts('\x1b[2Ja\x1b[10;5Hb\x1b]0;title\x07c\x1b]8;;http://x\x1b\\d\x1b[')).toBe('abcd[');
    expect(texts('\x1b[38;5;200mx\x1b[38;2;1;2;3my\x1b[48;5;1mz')).toBe('xyz');
    expect(ansiPieces('\x1b[38;5;9mx')[0]?.colour).toBe(9);
  });
  it('shows what has no shape or turns the line', () => {
    expect(visible('a\0b\u202ec\x7f')).toBe('a\u2400b⟨U+202E⟩c\u2421');
    expect(visible('tab\tstays, שלום too')).toBe('tab\tstays, שלום too');
  });
  it('takes long hostile input in linear time', () => {
    expect(texts('\x1b['.repeat(50_000)).length).toBeGreaterThan(0);
    expect(texts('\x1b]'.repeat(50_000)).length).toBeGreaterThanOrEqual(0);
  });
});
