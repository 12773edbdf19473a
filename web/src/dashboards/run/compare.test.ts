import {describe, expect, it} from 'vitest';
import type {TableAnswer} from '../../data/types.ts';
import {columnsFor, compare, flatten} from './compare.ts';

const answer = (data: TableAnswer['data']): TableAnswer => ({total: 2, columns: [], ids: [0, 1], data});

describe('two runs', () => {
  it('are asked for by name, hyperparameters and three values a metric', () => {
    expect(columnsFor(['lr'], ['loss'])).toEqual([
      'name',
      'hparam:lr',
      'metric:loss:last',
      'metric:loss:min',
      'metric:loss:max',
    ]);
  });
  it('differ where their values do; what neither has is left out', () => {
    const found = compare(
      answer([
        ['b', 'a'],
        [0.2, 0.1],
        ['adam', 'adam'],
        [null, null],
        [3, 1],
        [2, 0.5],
        ['Infinity', 4],
        [null, null],
        [null, null],
        [null, null],
      ]),
      ['lr', 'opt', 'none'],
      ['loss', 'absent'],
      'a',
      'b',
    );
    expect(found.config).toEqual([
      {name: 'lr', here: 0.1, there: 0.2, differs: true},
      {name: 'opt', here: 'adam', there: 'adam', differs: false},
    ]);
    expect(found.metrics).toEqual([{tag: 'loss', here: [1, 0.5, 4], there: [3, 2, Infinity], change: -2}]);
  });
  it('are one when there is no other', () => {
    const found = compare(answer([['a'], [0.1]]), ['lr'], [], 'a', '');
    expect(found.config).toEqual([{name: 'lr', here: 0.1, there: null, differs: false}]);
  });
  it('say about themselves what is nested as lines', () => {
    expect(flatten({git: {commit: 'abc', dirty: true}, command: ['a', 'b'], none: null, empty: []})).toEqual([
      ['git.commit', 'abc'],
      ['git.dirty', 'true'],
      ['command', 'a b'],
    ]);
  });
});
