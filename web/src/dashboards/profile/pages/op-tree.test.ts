import {expect, test} from 'vitest';
import {flatten, rootsOf} from './op-tree.ts';

const child = (name: string, time: number): unknown => ({name, metrics: {rawTime: time}});
const [root] = rootsOf({
  byProgram: {name: 'all', metrics: {rawTime: 60}, children: [child('a', 10), child('b', 30), child('c', 20)]},
});

test('the longest come first, at most so many, and what is left is counted', () => {
  const lines = flatten(root!.node, new Set(['/']), {by: 'time', top90: false, most: 2});
  expect(lines.map(line => [line.node.name, line.left])).toEqual([
    ['all', 1],
    ['b', 0],
    ['c', 0],
  ]);
  expect(flatten(root!.node, new Set(), {by: 'time', top90: false, most: 2}).map(line => line.left)).toEqual([0]);
});
