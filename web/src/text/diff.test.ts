import {describe, expect, it} from 'vitest';
import {diffText, tokens} from './diff.ts';

const side = (before: string, after: string, drop: string): string =>
  diffText(before, after)
    .filter(p => p.kind !== drop)
    .map(p => p.text)
    .join('');

describe('diffText', () => {
  it('tokens join to the text', () => {
    const text = 'a  b,c\n\n über_x = 1.5e−3 🙂\t|';
    expect(tokens(text).join('')).toBe(text);
  });
  it('keeps what is the same', () => {
    expect(diffText('the cat sat', 'the dog sat')).toEqual([
      {kind: 'same', text: 'the '},
      {kind: 'removed', text: 'cat'},
      {kind: 'added', text: 'dog'},
      {kind: 'same', text: ' sat'},
    ]);
    expect(diffText('x', 'x')).toEqual([{kind: 'same', text: 'x'}]);
    expect(diffText('', '')).toEqual([]);
  });
  it('gives both texts back', () => {
    let seed = 7;
    const random = (n: number): number => (seed = (seed * 1103515245 + 12345) & 0x7fffffff) % n;
    for (let i = 0; i < 200; i++) {
      const make = (): string => Array.from({length: random(30)}, () => 'abc d\n'[random(6)]).join(' ');
      const [before, after] = [make(), make()];
      expect(side(before, after, 'added')).toBe(before);
      expect(side(before, after, 'removed')).toBe(after);
    }
  });
  it('gives up on texts with nothing in common without losing any', () => {
    const before = Array.from({length: 3000}, (_, i) => `a${i}`).join(' x ');
    const after = Array.from({length: 3000}, (_, i) => `b${i}`).join(' y ');
    expect(side(before, after, 'added')).toBe(before);
    expect(side(before, after, 'removed')).toBe(after);
  });
});
