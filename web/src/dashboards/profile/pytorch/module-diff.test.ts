import {expect, test} from 'vitest';
import {accumulated, diffTree} from './module-diff.ts';

const tree = diffTree({
  data: [
    {
      name: 'a',
      host_duration: [3, 5],
      device_duration: [1, 1],
      children: [{name: 'inner', host_duration: [2, null], device_duration: [0, null], children: []}],
    },
    {name: 'b', host_duration: [7, 2], device_duration: [0, 0], children: []},
    {name: 'c', host_duration: [null, 4], device_duration: [null, 0], gone: true, children: []},
  ],
});

test('nodes of both, of one alone', () => {
  expect(tree.map(node => node.state)).toEqual(['both', 'both', 'gone']);
  expect(tree[0]!.children[0]!.state).toBe('new');
});

test('changes add up in the order of execution', () => {
  expect(accumulated(tree, 'host').map(({change, sum}) => [change, sum])).toEqual([
    [-2, -2],
    [5, 3],
    [-4, -1],
  ]);
});

test('anything else is no tree', () => {
  expect(diffTree(undefined)).toEqual([]);
  expect(diffTree({data: 'x'})).toEqual([]);
});
