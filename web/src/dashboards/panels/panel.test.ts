import {describe, expect, it} from 'vitest';
import type {Panel} from '../../data/pages.ts';
import {moved, replaced, resized, shifted, titleOf} from './panel.ts';

const panels = ['a', 'b', 'c'].map((id): Panel => ({id, kind: 'line', w: 4, h: 5, y: [id]}));
const ids = (list: readonly Panel[]): string => list.map(one => one.id).join('');

describe('panels', () => {
  it('move before another one, to the end, and nowhere', () => {
    expect(ids(moved(panels, 'c', 'a'))).toBe('cab');
    expect(ids(moved(panels, 'a', null))).toBe('bca');
    expect(moved(panels, 'a', 'a')).toBe(panels);
    expect(moved(panels, 'x', 'a')).toBe(panels);
    expect(moved(panels, 'a', 'x')).toBe(panels);
  });
  it('shift by one place within the page', () => {
    expect(ids(shifted(panels, 'b', -1))).toBe('bac');
    expect(ids(shifted(panels, 'b', 1))).toBe('acb');
    expect(shifted(panels, 'a', -1)).toBe(panels);
    expect(shifted(panels, 'c', 1)).toBe(panels);
  });
  it('stay within the grid', () => {
    expect(resized(panels[0]!, 40, 0)).toEqual({w: 12, h: 4});
    expect(resized(panels[0]!, -1, 7.4)).toEqual({w: 2, h: 7});
  });
  it('are named by their title or their tags', () => {
    expect(titleOf(panels[0]!)).toBe('a');
    expect(titleOf(replaced(panels, 'a', {title: 'Loss'})[0]!)).toBe('Loss');
    const values = ['metric:train/loss:min', 'hparam:lr'];
    expect(titleOf({id: 'v', kind: 'bar', w: 4, h: 5, values: values.slice(0, 1)})).toBe('train/loss, min');
    expect(titleOf({id: 'v', kind: 'scatter', w: 4, h: 5, values})).toBe('lr over train/loss, min');
  });
});
