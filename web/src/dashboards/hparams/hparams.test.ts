import {describe, expect, it} from 'vitest';
import type {HparamTable} from '../../data/hparams.ts';
import {axisOf, choiceOf} from './axis.ts';
import {inCommon, paretoFront, ranked} from './best.ts';
import {autoColumns, isLowerBetter, rankMetrics} from './choose.ts';
import {exportTrials} from './export.ts';
import {barsOf, columnOf, filterKind, metricOf, passing, sorted, trialsOf} from './model.ts';

const answer: HparamTable = {
  rev: 1,
  total: 4,
  columns: [
    {id: 'name', type: 'string'},
    {id: 'hparam:lr', type: 'number', differs: true},
    {id: 'hparam:opt', type: 'string', differs: true},
    {id: 'metric:val/acc:last', type: 'number'},
    {id: 'metric:a:b:max', type: 'number'},
  ],
  data: [
    ['a', 'b', 'c', 'd'],
    [0.1, 0.001, null, 0.00001],
    ['sgd', 'adam', 'adam', null],
    [0.5, 'NaN', 0.9, 0.7],
    [1, 2, 3, 4],
  ],
  ids: [[0], [1], [2], [3, 4]],
};
const trials = trialsOf(answer, id => id);
const col = (id: string) => trials.columns.get(id)!;

describe('columns', () => {
  it('keeps missing apart from NaN', () => {
    expect(col('hparam:lr').missing).toBe(1);
    expect(col('metric:val/acc:last').missing).toBe(0);
    expect(col('metric:val/acc:last').text(1)).toBe('NaN');
    expect(col('hparam:lr').text(2)).toBe('');
    expect(col('hparam:opt').names).toEqual(['adam', 'sgd']);
  });
  it('reads a metric with a colon in its tag', () =>
    expect(metricOf('metric:a:b:max')).toEqual({tag: 'a:b', what: 'max'}));
  it('writes every digit of whole numbers', () => {
    const seeds = columnOf({id: 'hparam:seed', type: 'number'}, [101, 4294967295, -7], 'seed');
    expect([0, 1, 2].map(row => seeds.text(row))).toEqual(['101', '4294967295', '\u22127']);
  });
  it('lists few values, ranges many', () => {
    expect(filterKind(col('hparam:lr'))).toBe('list');
    expect(filterKind(col('metric:val/acc:last'))).toBe('interval');
    expect(
      filterKind(
        columnOf(
          {id: 'hparam:n', type: 'string'},
          Array.from({length: 60}, (_, i) => `v${i}`),
          'n',
        ),
      ),
    ).toBe('text');
  });
});

describe('filters and order', () => {
  const kept = (...filters: Parameters<typeof passing>[1]) => [...passing(trials.columns, filters, 4)];
  it('drops rows without a value unless they are wanted', () => {
    expect(kept({col: 'hparam:lr', min: 0.0005})).toEqual([1, 1, 0, 0]);
    expect(kept({col: 'hparam:lr', min: 0.0005, missing: 'also'})).toEqual([1, 1, 1, 0]);
    expect(kept({col: 'hparam:lr', missing: 'only'})).toEqual([0, 0, 1, 0]);
    expect(kept({col: 'hparam:lr'})).toEqual([1, 1, 0, 1]);
  });
  it('takes lists, expressions and both columns together', () => {
    expect(kept({col: 'hparam:opt', in: ['adam']}, {col: 'metric:val/acc:last', min: 0.8})).toEqual([0, 0, 1, 0]);
    expect(kept({col: 'hparam:lr', in: ['0.00001', '0.1']})).toEqual([1, 0, 0, 1]);
    expect(kept({col: 'hparam:opt', re: '^S'})).toEqual([1, 0, 0, 0]);
    expect(kept({col: 'hparam:opt', re: '('})).toEqual([0, 0, 0, 0]);
  });
  it('sorts missing and NaN last in both directions', () => {
    const all = new Uint8Array(4).fill(1);
    expect([...sorted(all, col('metric:val/acc:last'), 'desc')]).toEqual([2, 3, 0, 1]);
    expect([...sorted(all, col('metric:val/acc:last'), 'asc')]).toEqual([0, 3, 2, 1]);
  });
  it('counts what passes in the bars', () => {
    const bars = barsOf(col('metric:val/acc:last'), Uint8Array.of(1, 1, 0, 1), false, 4);
    expect([bars.all, bars.part]).toEqual([
      [1, 1, 0, 1],
      [1, 1, 0, 0],
    ]);
  });
});

describe('axes', () => {
  it('is logarithmic over decades, and never with values of 0 or less', () => {
    expect(choiceOf(col('hparam:lr'), undefined)).toBe('log');
    expect(choiceOf(columnOf({id: 'hparam:x', type: 'number'}, [0, 100], 'x'), 'log')).toBe('linear');
  });
  it('gives back the filter of a stretch', () => {
    const axis = axisOf(col('hparam:lr'), 'log', false);
    expect(axis.at[1]).toBeCloseTo(0.5);
    expect(axis.holes).toBe(true);
    expect(axis.filter(0.25, 1)).toEqual({min: 0.0001});
    expect(axisOf(col('hparam:lr'), 'log', true).filter(0, 0.5)).toEqual({min: 0.001});
    expect(axisOf(col('hparam:opt'), undefined, false).filter(0, 0.5)).toEqual({in: ['adam']});
    expect(axisOf(col('hparam:lr'), 'rank', false).at[1]).toBe(0.5);
  });
});

describe('best', () => {
  const acc = col('metric:val/acc:last');
  it('ranks by the goal, without NaN', () => {
    expect(ranked(acc, [0, 1, 2, 3], 'max')).toEqual([2, 3, 0]);
    expect(ranked(acc, [0, 1, 2, 3], 'min')).toEqual([0, 3, 2]);
  });
  it('finds who none beats in both', () =>
    expect(paretoFront(acc, col('metric:a:b:max'), [0, 2, 3], ['max', 'max'])).toEqual([2, 3]));
  it('says what the best share', () =>
    expect(inCommon([col('hparam:opt')], [2], [0, 1, 2])).toMatchObject([{value: 'adam', share: 1, shareAll: 2 / 3}]));
  it('chooses an objective and its direction', () => {
    expect(
      rankMetrics([
        {id: 'metric:lr:last', type: 'number'},
        {id: 'metric:loss:last', type: 'number'},
        {id: 'metric:val/acc:last', type: 'number'},
      ])[0],
    ).toBe('metric:val/acc:last');
    expect([isLowerBetter('metric:val/loss:last'), isLowerBetter('metric:acc:max')]).toEqual([true, false]);
    expect(autoColumns(answer.columns).slice(0, 2)).toEqual(['hparam:lr', 'hparam:opt']);
  });
});

describe('export', () => {
  const columns = [col('hparam:lr'), col('hparam:opt'), col('metric:val/acc:last')];
  it('writes all digits as CSV', () =>
    expect(exportTrials('csv', trials, columns, [2, 1])).toBe(
      'trial,lr,opt,val/acc\r\nc,,adam,0.9\r\nb,0.001,adam,NaN\r\n',
    ));
  it('keeps missing and NaN apart in JSON', () =>
    expect(JSON.parse(exportTrials('json', trials, columns, [1, 3]))).toEqual([
      {trial: 'b', lr: 0.001, opt: 'adam', 'val/acc': 'NaN'},
      {trial: 'd', lr: 0.00001, opt: null, 'val/acc': 0.7},
    ]));
  it('escapes for LaTeX', () => {
    const one = trialsOf(
      {
        ...answer,
        columns: [
          {id: 'name', type: 'string'},
          {id: 'hparam:a_b', type: 'string'},
        ],
        data: [['x&y'], ['50%']],
        ids: [[0]],
      },
      id => id,
    );
    expect(exportTrials('tex', one, [one.columns.get('hparam:a_b')!], [0])).toContain(
      'trial & a\\_b \\\\\n\\hline\nx\\&y & 50\\% \\\\',
    );
  });
});
