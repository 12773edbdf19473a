import {expect, it} from 'vitest';
import {cleanLayouts} from '../../data/layouts.ts';
import {matchingTags, mergeLayouts, withChart} from './layout.ts';

const chart = (title: string) => ({title, multiline: {tags: ['loss']}});

it('categories of equal title become one', () => {
  const merged = mergeLayouts(
    [
      {title: 'a', closed: true, charts: [chart('1')]},
      {title: 'b', charts: []},
    ],
    [{title: 'a', charts: [chart('2')]}],
  );
  expect(
    merged.map(({title, closed, charts}) => [title, closed, charts.map(one => [one.chart.title, one.own])]),
  ).toEqual([
    [
      'a',
      false,
      [
        ['1', null],
        ['2', {category: 0, chart: 0}],
      ],
    ],
    ['b', false, []],
  ]);
});
it('the same chart of several runs is shown once', () => {
  const category = {title: 'a', charts: [chart('1'), chart('2')]};
  expect(mergeLayouts([category, category], [])[0]!.charts.length).toBe(2);
});
it('expressions match from the start of a tag; broken ones are named', () => {
  const tags = ['loss/train', 'loss/eval', 'my/loss', 'acc'];
  expect(matchingTags(['loss', 'a.c$'], tags)).toEqual({tags: ['loss/train', 'loss/eval', 'acc'], broken: []});
  expect(matchingTags(['(', 'acc'], tags)).toEqual({tags: ['acc'], broken: ['(']});
});
it('charts are put in, replaced in place and taken out', () => {
  const own = withChart([], 'x', chart('1'), null);
  const two = withChart(own, 'x', chart('2'), null);
  expect(withChart(two, 'x', chart('1b'), {category: 0, chart: 0})[0]!.charts.map(one => one.title)).toEqual([
    '1b',
    '2',
  ]);
  expect(withChart(two, 'y', chart('1'), {category: 0, chart: 0}).map(one => [one.title, one.charts.length])).toEqual([
    ['x', 1],
    ['y', 1],
  ]);
  expect(withChart(own, 'x', null, {category: 0, chart: 0})).toEqual([]);
});
it('foreign layouts are cleaned', () => {
  expect(cleanLayouts('x')).toEqual([]);
  expect(
    cleanLayouts([
      {
        title: 'a',
        charts: [
          {title: 'm', multiline: {tags: ['l', 3]}},
          {title: 4},
          null,
          {title: 'g', margin: {series: [{value: 'v', lower: 'l', upper: 'u'}, {value: 1}]}},
        ],
      },
      7,
    ]),
  ).toEqual([
    {
      title: 'a',
      closed: false,
      charts: [
        {title: 'm', multiline: {tags: ['l']}},
        {title: 'g', margin: {series: [{value: 'v', lower: 'l', upper: 'u'}]}},
      ],
    },
  ]);
});
