import {expect, test} from 'vitest';
import {fuzzyScore} from './fuzzy.ts';
import {compareNatural} from './natural.ts';

test('digits compare as numbers, the slash comes first', () => {
  expect(['a10', 'a2', 'a+/b', 'a/b', 'lr1e-3', 'lr1e-5', 'a1.5'].sort(compareNatural)).toEqual([
    'a/b',
    'a+/b',
    'a1.5',
    'a2',
    'a10',
    'lr1e-5',
    'lr1e-3',
  ]);
});

test('the palette prefers whole words', () => {
  expect(fuzzyScore('loss', 'train/loss')!).toBeGreaterThan(fuzzyScore('loss', 'a_loose_sss')!);
  expect(fuzzyScore('xyz', 'train/loss')).toBeNull();
});
