import {describe, expect, it} from 'vitest';
import {cellText, mediaPath, messagesOf, pairRows, shares, tokensOf} from './sample-cells.ts';

describe('cells of a table', () => {
  it('become text whatever they are', () => {
    expect(cellText('a\0\u202eb')).toBe('a\u2400⟨U+202E⟩b');
    expect(cellText(null)).toBe('');
    expect(cellText({a: [1]})).toBe('{"a":[1]}');
    expect(
      cellText([
        {role: 'user', content: 'hi'},
        {role: 'tool', content: {x: 1}},
      ]),
    ).toBe('user: hi ⏎ tool: {"x":1}');
    expect(cellText({_tokens: ['a', 'b'], values: {}})).toBe('ab');
  });
  it('are only taken for what they are', () => {
    expect(messagesOf([{role: 1}])).toBeNull();
    expect(messagesOf([])).toBeNull();
    expect(messagesOf([{role: 'assistant', content: null, tool_calls: [{name: 'f'}]}])?.[0]?.calls).toContain('"f"');
    expect(messagesOf([{from: 'human', value: 'hi'}])?.[0]).toEqual({role: 'human', content: 'hi', calls: ''});
    expect(messagesOf([{role: 'user', content: [{type: 'text', text: 'see'}, {type: 'image'}]}])?.[0]?.content).toBe(
      'see\n[image]',
    );
    expect(tokensOf({_tokens: 'ab'})).toBeNull();
    expect(tokensOf({_tokens: ['a', 'b'], values: {logprob: [-1]}})?.values['logprob']).toEqual([-1, NaN]);
    expect(mediaPath({_media: 5})).toBeNull();
    expect(mediaPath({_media: 'media/a.png'})).toBe('media/a.png');
  });
  it('are coloured by their place between the extremes', () => {
    expect(shares([1, 3, NaN, 2])).toEqual([0, 1, NaN, 0.5]);
    expect(shares([4, 4])).toEqual([0.5, 0.5]);
  });
  it('are paired over steps by a column or by position', () => {
    const row = (n: number, prompt: string): {row: number; step: number; cells: Record<string, unknown>} => ({
      row: n,
      step: 0,
      cells: {prompt},
    });
    const [here, there] = [
      [row(0, 'a'), row(1, 'b'), row(2, 'b')],
      [row(7, 'b'), row(8, 'a')],
    ];
    expect(pairRows(here, there, 'prompt').map(one => one.other?.row ?? null)).toEqual([8, 7, null]);
    expect(pairRows(here, there, '').map(one => one.other?.row ?? null)).toEqual([7, 8, null]);
  });
});
