import {expect, it} from 'vitest';
import {decodeColumns, encodeColumns} from '../../data/columns.ts';
import {margin, multiline} from './chart-data.ts';

const answer = (runs: number[], entry: number[], n: number[], x: number[], last: number[]) =>
  decodeColumns(
    encodeColumns(
      {series: {run: runs, tag: entry, entry, n, total: n, exact: n.map(() => 1), first: n.map(() => 0)}},
      {x: {t: 'f64', data: Float64Array.from(x)}, last: {t: 'f32', data: Float32Array.from(last)}},
    ),
  );
const naming = {nameOf: (run: number) => `run ${run}`, styleOf: () => ({colour: '#112233', dash: []})};
const say = (key: string, params: Record<string, string>): string => `${key} ${Object.values(params).join(' | ')}`;
const WANTED = [{value: 'v', lower: 'l', upper: 'u'}];

it('several runs and tags: a line each, named by both', () => {
  const lines = multiline(
    answer([0, 1, 0], [0, 0, 1], [2, 1, 1], [0, 1, 0, 5], [1, 2, 3, 4]),
    ['a', 'b'],
    false,
    naming,
    false,
  );
  expect(lines.map(one => [one.label, [...(one.y as Float32Array)]])).toEqual([
    ['run 0 · a', [1, 2]],
    ['run 1 · a', [3]],
    ['run 0 · b', [4]],
  ]);
  expect(new Set(lines.map(one => one.dash.join())).size).toBe(2);
});
it('a margin is a band around the value', () => {
  const {series, problems} = margin(
    answer([0, 0, 0], [0, 1, 2], [2, 2, 2], [0, 1, 0, 1, 0, 1], [5, 6, 4, 5, 6, 8]),
    ['v', 'l', 'u'],
    WANTED,
    naming,
    say,
  );
  expect(problems).toEqual([]);
  expect([
    [...(series[0]!.y as Float32Array)],
    [...(series[0]!.bandLo as Float32Array)],
    [...(series[0]!.bandHi as Float32Array)],
  ]).toEqual([
    [5, 6],
    [4, 5],
    [6, 8],
  ]);
});
it('missing tags and steps that differ are said', () => {
  expect(margin(answer([0], [0], [1], [0], [1]), ['v', 'l', 'u'], WANTED, naming, say).problems).toEqual([
    'custom.lacks run 0 | l, u',
  ]);
  expect(
    margin(answer([0, 0, 0], [0, 1, 2], [1, 1, 1], [0, 1, 0], [1, 1, 1]), ['v', 'l', 'u'], WANTED, naming, say)
      .problems,
  ).toEqual(['custom.steps_differ run 0 | v, l, u']);
});
