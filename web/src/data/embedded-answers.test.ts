import {afterEach, expect, test} from 'vitest';
import {
  embeddedColumns,
  dropEmbeddedColumns,
  hasEmbeddedAnswers,
  sameQuestion,
  takeEmbedded,
} from './embedded-answers.ts';

const QUESTION = {
  x: 'step',
  px: 400,
  agg: ['min', 'max'],
  smooth: {kind: 'ema', p: 0.6},
  series: [{tag: 'loss', runs: [0, 1]}],
  group: null,
};

function bring(path: string, text: string): void {
  const element = document.createElement('script');
  element.type = 'application/json';
  element.dataset['answer'] = `api/v1/${path}`;
  element.textContent = text;
  document.body.append(element);
}

afterEach(() => document.body.replaceChildren());

test('an answer is taken once, an empty one never', () => {
  bring('runs', '{"runs":[]}');
  bring('tags', '');
  expect(hasEmbeddedAnswers()).toBe(false);
  expect(takeEmbedded('runs')?.value).toEqual({runs: []});
  expect(takeEmbedded('runs')).toBeUndefined();
  expect(takeEmbedded('tags')).toBeUndefined();
});

test.each([
  ['the same', QUESTION, true],
  ['a narrower plot', {...QUESTION, px: 300}, true],
  ['a plot that is a little wider', {...QUESTION, px: 440}, true],
  ['a much wider plot', {...QUESTION, px: 900}, false],
  ['a much narrower plot', {...QUESTION, px: 120}, false],
  ['a zoom', {...QUESTION, range: [0, 10]}, false],
  ['a range that is not there', {...QUESTION, range: null}, true],
  ['another smoothing', {...QUESTION, smooth: {kind: 'none', p: 0}}, false],
  ['a run less', {...QUESTION, series: [{tag: 'loss', runs: [0]}]}, false],
])('the first columns answer %s: %#', (_, asked, same) => {
  expect(sameQuestion(QUESTION, asked)).toBe(same);
});

test('columns answer their question until they are dropped', () => {
  bring('columns/first?question=x', JSON.stringify({question: QUESTION, columns: btoa('SND1')}));
  expect(embeddedColumns('nearest', QUESTION)).toBeUndefined();
  expect([...new Uint8Array(embeddedColumns('columns', {...QUESTION, px: 340})!)]).toEqual([0x53, 0x4e, 0x44, 0x31]);
  expect(embeddedColumns('columns', {...QUESTION, x: 'wall'})).toBeUndefined();
  expect(embeddedColumns('columns', QUESTION)).toBeDefined();
  dropEmbeddedColumns();
  expect(embeddedColumns('columns', QUESTION)).toBeUndefined();
});
