import {expect, test} from 'vitest';
import {openLines, scopesOf} from './scopes.ts';

const OPS = [
  {name: 'model/dense/MatMul', time: 5, count: 2},
  {name: 'model/dense/Add', time: 1, count: 2},
  {name: 'model/conv/Conv2D', time: 9, count: 1},
  {name: 'Adam', time: 2, count: 4},
];

test('scopes add up, longest first', () => {
  const root = scopesOf(OPS);
  expect([root.time, root.count, root.ops]).toEqual([17, 9, 4]);
  expect(root.children.map(one => [one.name, one.time, one.ops])).toEqual([
    ['model', 15, 3],
    ['Adam', 2, 1],
  ]);
  expect(root.children[0]!.children.map(one => one.name)).toEqual(['conv', 'dense']);
});

test('a scope with only one scope in it is one line', () => {
  const root = scopesOf([
    {name: 'a/b/x', time: 1, count: 1},
    {name: 'a/b/y', time: 2, count: 1},
    {name: 'c', time: 1, count: 1},
  ]);
  expect(root.children.map(one => one.name)).toEqual(['a/b', 'c']);
});

test('lines of what is open', () => {
  const root = scopesOf(OPS);
  expect(openLines(root, new Set()).map(({scope}) => scope.name)).toEqual(['model', 'Adam']);
  expect(
    openLines(root, new Set(['/model', '/model/dense'])).map(({scope, depth}) => `${depth} ${scope.name}`),
  ).toEqual(['0 model', '1 conv', '1 dense', '2 MatMul', '2 Add', '0 Adam']);
});

test('strange names do not break it', () => {
  expect(
    scopesOf([
      {name: '', time: 1, count: 1},
      {name: '///', time: 1, count: 1},
      {name: 'a/'.repeat(500), time: 1, count: 1},
    ]).ops,
  ).toBe(3);
});
