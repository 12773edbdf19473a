import {expect, it} from 'vitest';
import type {GraphNode, GraphPicture} from '../../data/graphs.ts';
import {createFills, mix, withScopes} from './fills.ts';

const node = (name: string, more: Partial<GraphNode>): GraphNode => ({
  name,
  label: name,
  kind: 'op',
  count: 1,
  id: 0,
  x: 0,
  y: 0,
  w: 1,
  h: 1,
  ...more,
});
const picture = (nodes: readonly GraphNode[]): GraphPicture => ({
  width: 1,
  height: 1,
  ops: 1,
  left_out: 0,
  stats: 0,
  nodes,
  edges: [],
  functions: [],
  errors: [],
});

it('mixes two colours', () => expect(mix('#ffffff', '#000000', 0.5)).toBe('#808080'));
it('knows the scopes above a name', () =>
  expect([...withScopes(['a/b/c', 'a/d'])].sort()).toEqual(['a', 'a/b', 'a/b/c', 'a/d']));
it('gives devices a colour each, in the order of their names', () => {
  const fills = createFills(
    picture([
      node('a', {device: '/gpu:0'}),
      node('b', {device: '/cpu:0'}),
      node('c', {device: '/gpu:0'}),
      node('d', {}),
    ]),
    'device',
    '#ffffff',
    false,
  );
  expect(fills.words.map(word => [word.text, word.n])).toEqual([
    ['/cpu:0', 1],
    ['/gpu:0', 2],
  ]);
  expect(fills.of(node('x', {device: '/gpu:0'}))).toBe(fills.words[1]!.colour);
  expect(fills.of(node('x', {}))).toBeNull();
});
it('fills by time relative to the slowest closed box', () => {
  const fills = createFills(
    picture([node('a', {time_ps: 10}), node('open', {open: true, time_ps: 99})]),
    'time',
    '#ffffff',
    false,
  );
  expect(fills.largest).toBe(10);
  expect(fills.of(node('a', {time_ps: 10}))).toBe(fills.ramp[4]);
});
