import {expect, test} from 'vitest';
import {addMessages, t} from './messages.ts';

addMessages({'a.counts': '{tags} {tags|tag|tags} · {n} {n|run|runs}', 'a.kept': 'kept', 'a.kept.one': 'kept alone'});

test('the word follows its number, written or not', () => {
  expect(t('a.counts', {tags: '1', n: 2})).toBe('1 tag · 2 runs');
  expect(t('a.counts', {tags: '1\u202f000', n: 1})).toBe('1\u202f000 tags · 1 run');
  expect(t('a.counts', {tags: 0, n: 0})).toBe('0 tags · 0 runs');
});

test('a key of its own for one, and what is not given stays visible', () => {
  expect([t('a.kept', {n: 1}), t('a.kept', {n: 2}), t('a.missing')]).toEqual(['kept alone', 'kept', 'a.missing']);
  expect(t('a.counts', {n: 3})).toBe('{tags} {tags|tag|tags} · 3 runs');
});
