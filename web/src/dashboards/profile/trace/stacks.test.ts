import {expect, test} from 'vitest';
import {byCalls, shapeOf} from './stacks.ts';

test('chips of a kind become one expression, the last pivot holds', () => {
  expect(shapeOf('down', [])).toEqual({direction: 'down', pivot: '', keep_stack: '', drop_stack: '', drop_frame: ''});
  const shape = shapeOf('up', [
    {kind: 'pivot', name: 'a'},
    {kind: 'pivot', name: 'f(x)'},
    {kind: 'drop_frame', name: 'b'},
    {kind: 'drop_frame', name: 'c'},
    {kind: 'keep_stack', name: 'words', words: true},
  ]);
  expect(shape).toEqual({
    direction: 'up',
    pivot: '/^f\\(x\\)$/',
    keep_stack: 'words',
    drop_stack: '',
    drop_frame: '/^b$|^c$/',
  });
});

test('a frame by calls is as wide as all calls inside it', () => {
  const node = (name: string, count: number, parent?: number) => ({
    name,
    count,
    total: 1,
    self: 1,
    ...(parent === undefined ? {} : {parent}),
  });
  expect(byCalls([node('all', 0), node('a', 2, 0), node('b', 3, 1)]).map(one => one.total)).toEqual([5, 5, 3]);
});
