import {expect, test} from 'vitest';
import type {Run} from '../data/types.ts';
import {groupRuns, styleRuns} from './groups.ts';

const run = (id: number, name: string): Run => ({
  rev: 0,
  id,
  name,
  slot: id,
  start: 0,
  last: 1,
  state: 'idle',
  points: 1,
  bytes: 1,
  segments: 1,
  damage: 0,
  kinds: [],
});
const list = [run(0, 'adam_s0'), run(1, 'sgd_s0'), run(2, 'adam_s1'), run(3, 'other')];
const none = () => null;

test('captured text makes groups, the rest stays outside', () => {
  const {groups, rest} = groupRuns(list, 'regex:^(adam|sgd)_', none);
  expect(groups.map(g => [g.key, g.index, g.members.map(m => m.id)])).toEqual([
    ['adam', 0, [0, 2]],
    ['sgd', 1, [1]],
  ]);
  expect(rest.map(r => r.id)).toEqual([3]);
  expect(groupRuns(list, 'regex:_s', none).groups[0]!.members).toHaveLength(3);
});

test('hyperparameters make groups', () => {
  const cell = (column: string, id: number) => (column === 'hparam:lr' ? [0.1, 0.1, 0.2, null][id]! : null);
  expect(groupRuns(list, 'hparam:lr', cell).groups.map(g => g.key)).toEqual(['lr 0.1', 'lr 0.2']);
});

test('colours belong to slots, members of a group are shades, overrides win', () => {
  const {groups} = groupRuns(list, 'regex:^(adam|sgd)_', none);
  const plain = styleRuns(list, 'run', [], none, () => undefined, false, '#999999', false);
  expect(plain.get(0)!.colour).toBe('#5491fe');
  const grouped = styleRuns(
    list,
    'group',
    groups,
    none,
    r => (r.id === 1 ? '#123456' : undefined),
    false,
    '#999999',
    false,
  );
  expect(grouped.get(0)!.colour).toBe('#5491fe');
  expect(grouped.get(2)!.colour).not.toBe('#5491fe');
  expect(grouped.get(1)!.colour).toBe('#123456');
  expect(grouped.get(3)!.colour).toBe('#999999');
  expect(styleRuns([{...list[0]!, slot: 24}], 'run', [], none, () => undefined, false, '', false).get(0)).toEqual({
    colour: '#5491fe',
    dash: [6, 3],
  });
});
