import {expect, test} from 'vitest';
import {colourIndex, createFill, rampIndex, type ColourRule} from './colours.ts';

const rule = (by: string): ColourRule => ({
  by,
  names: ['block_1', 'block_2', 'copy'],
  category: [0, -1, 1],
  process: [0, 0, 2],
  palette: ['a', 'b', 'c'],
  ramp: ['short', 'middle', 'long'],
  plain: 'plain',
});
const cells = {
  name: Uint32Array.of(0, 1, 2),
  dur: Uint32Array.of(0, 5, 5000),
  tick: 1e6,
  mark: Uint32Array.of(0, 4, 5),
};

test('colours depend on the name without its number', () => {
  expect(colourIndex('block_3', 12)).toBe(colourIndex('block_4', 12));
  const fill = createFill(rule('name'));
  expect(fill(cells, 0, 1)).toBe(fill(cells, 1, 1));
});

test('a rule colours by category, track, process, duration and argument; what lacks it is plain', () => {
  const all = (by: string): string[] => [0, 1, 2].map(i => createFill(rule(by))(cells, i, i));
  expect(all('category')).toEqual(['a', 'plain', 'b']);
  expect(all('track')).toEqual(['a', 'b', 'c']);
  expect(all('process')).toEqual(['a', 'a', 'b']);
  expect(all('duration')).toEqual(['short', 'middle', 'long']);
  expect(all('argument:step')).toEqual(['plain', 'b', 'c']);
});

test('ten times as long is the next colour of the ramp', () => {
  expect([1, 1e6, 1e7, 1e30].map(ps => rampIndex(ps, 4))).toEqual([0, 1, 2, 3]);
});
