import {expect, test} from 'vitest';
import {nameParts, siblingCuts} from './sibling-names.ts';

test('the end of a name begins where its siblings differ', () => {
  const names = ['sweep_resnet_lr0.1_seed0', 'sweep_resnet_lr0.1_seed1', 'sweep_resnet_lr0.01_seed0', 'baseline'];
  const cuts = siblingCuts(names);
  expect(names.map(name => nameParts(name, cuts.get(name)!))).toEqual([
    ['sweep_resnet_', 'lr0.1_seed0'],
    ['sweep_resnet_', 'lr0.1_seed1'],
    ['sweep_resnet_', 'lr0.01_seed0'],
    ['baseline', ''],
  ]);
});

test('a name without siblings keeps its end', () => {
  const long = 'a_very_long_name_of_a_run';
  expect(nameParts(long, siblingCuts([long, 'b']).get(long)!)).toEqual(['a_very_long_name_', 'of_a_run']);
});

test('a name that begins another keeps its last word; a word without an end is split', () => {
  expect(siblingCuts(['experiment_7', 'experiment_7_bis']).get('experiment_7_bis')).toBe(11);
  const long = 'x'.repeat(40);
  expect(siblingCuts([`${long}a`, `${long}b`]).get(`${long}a`)).toBe(40);
});
