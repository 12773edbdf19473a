import {expect, test} from 'vitest';
import type {TraceInfo} from '../../../data/trace.ts';
import {areasIn, brightLabels, familiesOf, moved, processOf, skippedLabels} from './model.ts';

const track = (id: number, parent?: number, slices = 1): TraceInfo['tracks'][number] => ({
  id,
  name: `t${id}`,
  kind: 'thread',
  order: 0,
  slices,
  points: 0,
  depth: 1,
  busy: 0,
  ...(parent === undefined ? {} : {parent}),
});

test('tracks stand under their processes, empty ones nowhere', () => {
  const tracks = [track(0, undefined, 0), track(1, 0), track(2, 1), track(3, undefined, 0), track(4, 0, 0)];
  expect(processOf(tracks)).toEqual([0, 0, 0, 3, 0]);
  expect(familiesOf(tracks).map(family => [family.process.id, family.tracks.map(one => one.id)])).toEqual([
    [0, [1, 2]],
  ]);
});

test('several areas move together', () => {
  const chosen = {t0: 5, t1: 6, tracks: [1], also: [{t0: 1, t1: 2, tracks: null}]};
  expect(areasIn(moved(chosen, 10))).toEqual([
    {t0: 11, t1: 12, tracks: null},
    {t0: 15, t1: 16, tracks: [1]},
  ]);
  expect(areasIn(null)).toEqual([]);
});

test('a category that is off skips its labels, labels without one go by the empty name', () => {
  expect([...(skippedLabels(['io', 'op'], [0, 1, -1], ['io']) ?? [])]).toEqual([1, 0, 0]);
  expect([...(skippedLabels(['io', 'op'], [0, 1, -1], ['']) ?? [])]).toEqual([0, 0, 1]);
  expect(skippedLabels(['io'], [0], [])).toBeNull();
});

test('a search of names keeps its hits bright, one of arguments all', () => {
  expect([...(brightLabels(['MatMul', 'relu'], 'mat') ?? [])]).toEqual([1, 0]);
  expect(brightLabels(['MatMul'], 'step=3')).toBeNull();
  expect(brightLabels(['MatMul'], '/(/')).toBeNull();
});
