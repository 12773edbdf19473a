import {describe, expect, it} from 'vitest';
import {cleanPage, cleanPages} from './pages.ts';

describe('pages of a sidecar', () => {
  it('takes what is well-formed and nothing else', () => {
    expect(cleanPage({title: 'a', panels: 3})).toBeNull();
    expect(cleanPage([])).toBeNull();
    const page = cleanPage({
      title: 'a',
      panels: [
        {
          id: 'p1',
          kind: 'line',
          w: 99,
          h: -3,
          y: ['loss', 7],
          set: {yscale: 'cube', ghost: 0.5, smooth: {kind: 'ema'}},
        },
        {id: 'p1', kind: 'text', text: 'twice the same id'},
        {kind: 'pie'},
        null,
      ],
      runs: ['x', 1],
      settings: {x: 'wall', band: 4},
    });
    expect(page).toEqual({
      title: 'a',
      order: 0,
      panels: [{id: 'p1', kind: 'line', w: 12, h: 1, y: ['loss'], set: {ghost: 0.5}}],
      runs: ['x'],
      settings: {x: 'wall'},
    });
  });

  it('keeps their order', () => {
    const page = (title: string, order: number): object => ({title, order, panels: []});
    expect([...cleanPages({b: page('B', 2), a: page('A', 1), bad: 1}).keys()]).toEqual(['a', 'b']);
    expect(cleanPages('no').size).toBe(0);
  });
});
