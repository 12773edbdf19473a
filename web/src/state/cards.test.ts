import {expect, it} from 'vitest';
import type {Run, Tag} from '../data/types.ts';
import {cardsOf, matchTags, sectionsOf, splitTag} from './cards.ts';

const tag = (id: number, name: string, samples = 1): Tag => ({
  id,
  name,
  kind: 'image',
  plugin: 'images',
  runs: [],
  steps: [0, 1],
  samples,
});
const run = (id: number): Run => ({
  rev: 0,
  id,
  name: `r${id}`,
  start: 0,
  last: 0,
  state: 'idle',
  points: 1,
  bytes: 1,
  segments: 1,
  damage: 0,
  slot: id,
  kinds: [],
});

it('a tag is split at its first slash', () => {
  expect(splitTag('a/b/c')).toEqual({section: 'a', title: 'b/c'});
  for (const name of ['plain', '/lead', 'trail/', '']) expect(splitTag(name)).toEqual({section: '', title: name});
});
it('a broken filter is told apart from one that matches nothing', () => {
  const tags = [tag(1, 'loss'), tag(2, 'Image/x')];
  expect(matchTags(tags, 'image')?.map(one => one.id)).toEqual([2]);
  expect(matchTags(tags, 'nothing')).toEqual([]);
  expect(matchTags(tags, '(')).toBeNull();
});
it('cards follow tags, runs and samples', () => {
  const cards = cardsOf(
    [tag(1, 'a/x', 2), tag(2, 'b')],
    [run(0), run(1)],
    (one, id) => one.id === 1 || id === 1,
    one => one.samples ?? 1,
  );
  expect(cards.map(card => card.key)).toEqual(['1 0 0', '1 0 1', '1 1 0', '1 1 1', '2 1 0']);
  expect(sectionsOf(cards).map(({name, cards: list}) => [name, list.length])).toEqual([
    ['', 1],
    ['a', 4],
  ]);
});
