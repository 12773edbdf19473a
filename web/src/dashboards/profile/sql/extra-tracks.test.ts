import {describe, expect, it} from 'vitest';
import type {ReportTable} from '../../../data/profile.ts';
import type {TraceView} from '../../../data/trace.ts';
import {argumentTrack} from './argument.ts';
import {extraTracks, shapeOf} from './extra-tracks.ts';
import {remembered} from './history.ts';

const table = (
  columns: readonly (readonly [string, 'number' | 'string'])[],
  rows: ReportTable['rows'],
): ReportTable => ({
  id: 'result',
  title: '',
  total: rows.length,
  columns: columns.map(([id, type]) => ({id, label: id, type})),
  rows,
});
const EMPTY: TraceView = {
  t0: 0,
  t1: 1000,
  tick: 1,
  folded: false,
  rows: [],
  start: new Uint32Array(),
  dur: new Uint32Array(),
  name: new Uint32Array(),
  slice: new Uint32Array(),
  busy: new Uint8Array(),
  mark: null,
};
const FREE = {track: 10, label: 20, slice: 30};
const SLICES = table(
  [
    ['ts', 'number'],
    ['dur', 'number'],
    ['name', 'string'],
    ['thread', 'string'],
  ],
  [
    [0, 100, 'outer', 'a'],
    [10, 20, 'inner', 'a'],
    [500, 50, 'outer', 'b'],
    [2000, 50, 'late', 'b'],
  ],
);

describe('shapeOf', () => {
  it('needs a time, and for a counter a number besides', () => {
    expect(shapeOf(SLICES)).toEqual({slices: true, counter: false, pivots: ['name', 'thread']});
    expect(
      shapeOf(
        table(
          [
            ['name', 'string'],
            ['n', 'number'],
          ],
          [],
        ),
      ),
    ).toEqual({slices: false, counter: false, pivots: []});
    expect(
      shapeOf(
        table(
          [
            ['time_ms', 'number'],
            ['value', 'number'],
          ],
          [],
        ),
      ).counter,
    ).toBe(true);
  });
});

describe('extraTracks', () => {
  it('nests slices and cuts them to the view', () => {
    const extra = extraTracks([{query: {sql: '', kind: 'slices', by: '', title: 'Q'}, table: SLICES}], FREE, 'Queries');
    expect(extra.tracks.map(track => [track.id, track.name, track.parent, track.slices, track.depth])).toEqual([
      [10, 'Queries', undefined, 0, 0],
      [11, 'Q', 10, 4, 2],
    ]);
    expect(extra.names).toEqual(['outer', 'inner', 'late']);
    const view = extra.into(EMPTY);
    expect(view.rows).toEqual([
      {track: 11, depth: 0, from: 0, to: 2, exact: true},
      {track: 11, depth: 1, from: 2, to: 3, exact: true},
    ]);
    expect([...view.start]).toEqual([0, 500, 10]);
    expect([...view.name]).toEqual([20, 20, 21]);
    expect([...view.slice]).toEqual([30, 32, 31]);
  });
  it('makes a track for each value of a column', () => {
    const extra = extraTracks(
      [{query: {sql: '', kind: 'slices', by: 'thread', title: 'Q'}, table: SLICES}],
      FREE,
      'Queries',
    );
    expect(extra.tracks.map(track => track.name)).toEqual(['Queries', 'Q · a', 'Q · b']);
    expect(extra.detail(33)).toMatchObject({name: 'late', track: 12, begin: 2000, dur: 50});
    expect(extra.detail(33)?.args).toContainEqual(['thread', 'b']);
    expect(extra.detail(29)).toBeUndefined();
    expect(extra.detail(34)).toBeUndefined();
  });
  it('draws counters from milliseconds too', () => {
    const points = table(
      [
        ['time_ms', 'number'],
        ['value', 'number'],
      ],
      [
        [2, 5],
        [1, 4],
        [3, null],
      ],
    );
    const extra = extraTracks(
      [{query: {sql: '', kind: 'counter', by: '', title: 'C'}, table: points}],
      FREE,
      'Queries',
    );
    expect([...extra.counters[0]!.t]).toEqual([1e9, 2e9]);
    expect([...extra.counters[0]!.last]).toEqual([4, 5]);
  });
  it('has nothing for a result without times', () => {
    expect(
      extraTracks(
        [{query: {sql: '', kind: 'slices', by: '', title: 'Q'}, table: table([['name', 'string']], [['x']])}],
        FREE,
        'Queries',
      ).tracks,
    ).toEqual([]);
  });
});

describe('argumentTrack', () => {
  it('is a counter of numbers and slices of texts, whatever quotes a name has', () => {
    expect(argumentTrack("it's", 'n', '12')).toMatchObject({
      kind: 'counter',
      sql: "select s.ts, a.value from slices s join args a on a.slice = s.id and a.key = 'n' where s.name = 'it''s' order by s.ts",
    });
    expect(argumentTrack('x', 'shape', '[2,3]').kind).toBe('slices');
    expect(argumentTrack('x', 'empty', '').kind).toBe('slices');
  });
});

describe('remembered', () => {
  it('puts a query first and keeps each once', () => {
    expect(remembered(['a', 'b'], 'b')).toEqual(['b', 'a']);
    expect(
      remembered(
        Array.from({length: 30}, (_, i) => `${i}`),
        'new',
      ),
    ).toHaveLength(30);
  });
});
