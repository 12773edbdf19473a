import {expect, test} from 'vitest';
import type {Cell} from '../data/types.ts';
import {completions, parseQuery, type Resolve} from './run-query.ts';

const known = new Map<string, string>([
  ['lr', 'hparam:lr'],
  ['opt', 'hparam:opt'],
  ['val_acc', 'metric:val_acc:last'],
  ['val/loss', 'metric:val/loss:last'],
]);
const resolve: Resolve = (name, what) => {
  const column = known.get(name);
  if (column !== undefined) return what === null ? column : column.replace(/:last$/, `:${what}`);
  return ['name', 'start', 'duration', 'points', 'tag', 'note'].includes(name) ? name : null;
};
const runs: Record<string, Cell | readonly string[]>[] = [
  {name: 'a', 'hparam:lr': Math.fround(0.1), 'hparam:opt': 'adam', 'metric:val_acc:last': 0.95, tag: ['broken']},
  {name: 'b', 'hparam:lr': 1e-4, 'hparam:opt': 'SGD', 'metric:val_acc:last': 0.97, duration: 7200, tag: []},
  {name: 'c', 'hparam:lr': 0.01, 'hparam:opt': 'adam', 'metric:val_acc:last': 0.91, duration: 60, tag: []},
  {name: 'd', 'hparam:lr': null, 'metric:val_acc:last': NaN, 'metric:val/loss:min': 0.2, tag: []},
];
const found = (text: string): string => {
  const query = parseQuery(text, resolve)!;
  return runs
    .filter(run => query.test(column => run[column] ?? null))
    .map(run => run['name'])
    .join('');
};

test.each([
  ['lr > 1e-3 and val_acc > 0.9 and not tag:broken', 'c'],
  ['lr > 1e-3', 'ac'],
  ['lr = 0.1', 'a'],
  ['lr != 0.1', 'bcd'],
  ['opt = sgd or (opt = adam and lr < 0.05)', 'bc'],
  ['opt ~ ^ad', 'ac'],
  ['opt !~ ^ad', 'bd'],
  ['min(val/loss) <= 0.2', 'd'],
  ['duration > 1h', 'b'],
  ['not not name = "a"', 'a'],
  ['val_acc > 0.96', 'b'],
])('%s', (text, names) => expect(found(text)).toBe(names));

test('columns are named, a plain word is a name to look for', () => {
  expect(parseQuery('lr > 1 and min(val/loss) < 2', resolve)!.columns).toEqual(['hparam:lr', 'metric:val/loss:min']);
  expect(parseQuery('adam|sgd', resolve)).toBeNull();
  expect(parseQuery('run (1)', resolve)).toBeNull();
});

test.each([
  ['lr >', 'a value is missing after >'],
  ['lr > 1 and', 'something is missing at the end'],
  ['(lr > 1', 'missing )'],
  ['speed > 1', '“speed” is not a hyperparameter, a metric or a field of these runs'],
  ['lr > 1 lr < 2', '“lr” is not expected here; join conditions with and, or'],
])('%s is told to be wrong', (text, message) => expect(() => parseQuery(text, resolve)).toThrow(message));

test('completion of the last word', () => {
  expect(completions('lr > 1 and val', [...known.keys()]).words).toEqual(['val_acc', 'val/loss']);
  expect(completions('lr > 1 and val', []).from).toBe(11);
});
