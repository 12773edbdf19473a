import {expect, test} from 'vitest';
import {groupRows, meanOf, rewardColumn, sharedColumns} from './groups.ts';

const row = (n: number, step: number, cells: Record<string, unknown>) => ({row: n, step, cells});
const rows = [
  row(0, 10, {prompt: 'a', reward: 1, text: 'x'}),
  row(1, 0, {prompt: 'a', reward: 0, text: 'y'}),
  row(2, 0, {prompt: 'b', reward: 'none', text: 'z'}),
  row(3, 10, {prompt: 'a', reward: 0.5, text: 'w'}),
  {row: 4, step: 0, damage: 'no object'},
];

test('groups keep the order of the file, their steps ascend', () => {
  const groups = groupRows(rows, 'prompt');
  expect(groups.map(one => one.key)).toEqual(['a', 'b']);
  expect(groups[0]!.steps.map(one => [one.step, one.rows.map(r => r.row)])).toEqual([
    [0, [1]],
    [10, [0, 3]],
  ]);
});

test('a mean is of numbers only', () => {
  expect(meanOf(rows, 'reward')).toBe(0.5);
  expect(meanOf([rows[2]!], 'reward')).toBeNaN();
});

test('the reward is found by its name, the exact one first', () => {
  const number = (name: string) => ({name, kind: 'number' as const});
  expect(rewardColumn([number('format_reward'), number('reward')])).toBe('reward');
  expect(rewardColumn([number('n'), number('Rewards/mean')])).toBe('Rewards/mean');
  expect(rewardColumn([{name: 'reward', kind: 'text'}])).toBe('');
});

test('what every row of a group says is said once', () => {
  const columns = [
    {name: 'prompt', kind: 'text' as const},
    {name: 'text', kind: 'text' as const},
  ];
  expect(sharedColumns(groupRows(rows, 'prompt')[0]!, columns).map(one => one.name)).toEqual(['prompt']);
});
