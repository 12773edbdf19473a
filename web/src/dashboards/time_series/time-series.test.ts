import {expect, test} from 'vitest';
import type {Tag} from '../../data/types.ts';
import type {ChartSeries} from '../../draw/chart-model.ts';
import {toCsv, toJson} from './export-data.ts';
import {openSections, sectionsOf} from './sections.ts';
import {rangeRow, stepRow} from './values.ts';

const tag = (name: string, id: number): Tag => ({id, name, kind: 'scalar', plugin: 'scalars', runs: [], steps: [0, 1]});

test('tags are grouped by what is before the first slash', () => {
  const sections = sectionsOf(['a/b/c', 'a/d', 'loss'].map(tag));
  expect(sections.map(s => [s.name, s.cards.map(c => c.title)])).toEqual([
    ['a', ['b/c', 'd']],
    ['', ['loss']],
  ]);
  expect(sectionsOf(['acc', 'loss', 'x/y'].map(tag)).map(s => s.cards.length)).toEqual([2, 1]);
  const many = sectionsOf(Array.from({length: 40}, (_, i) => tag(`g${Math.floor(i / 10)}/${i}`, i)));
  expect([...openSections({g1: false}, many)]).toEqual(['g0']);
});

const series: ChartSeries = {
  key: 'k',
  run: 0,
  tag: 't',
  label: 'r',
  colour: '',
  dash: [],
  x: [0, 10, 20, 30],
  y: [4, 2, NaN, 1],
  raw: [5, 1, NaN, 0],
  exact: true,
  total: 4,
  first: 100,
  wall: [100, 101, 102, 103],
};

test('the table takes the nearest step', () => {
  expect(stepRow(series, 12)).toMatchObject({smoothed: 2, value: 1, step: 10, relative: 1});
});

test('a range leaves NaN out and says so', () => {
  expect(rangeRow(series, 0, 30)).toMatchObject({
    min: 1,
    max: 4,
    start: 4,
    end: 1,
    delta: -3,
    percent: -0.75,
    startStep: 0,
    endStep: 30,
    stepAtMin: 30,
    stepAtMax: 0,
    mean: 2,
    deltaRaw: -5,
    skipped: 1,
  });
});

test('exports are ASCII and complete', () => {
  const points = {run: 'a,b', tag: 't', step: [0, 1], wall: [1.5, 2.5], value: [0.1, NaN], smoothed: null};
  expect(toCsv([points], 'tidy', false)).toBe('run,tag,step,wall_time,value\n"a,b",t,0,1.5,0.1\n"a,b",t,1,2.5,NaN\n');
  expect(toCsv([points], 'tensorboard', false)).toBe('Wall time,Step,Value\n1.5,0,0.1\n2.5,1,NaN\n');
  expect(toCsv([points, {...points, run: 'c', step: [1, 2]}], 'wide', false)).toBe(
    'step,"a,b",c\n0,0.1,\n1,NaN,0.1\n2,,NaN\n',
  );
  expect(toJson([points], false)).toBe('[[1.5,0,0.1],[2.5,1,"NaN"]]');
});
