import {expect, test} from 'vitest';
import {laneAt, laneOf, layLanes, moveTrack, NO_CHOICE, tracksNamed, type LaneTrack} from './lanes.ts';

const track = (id: number, kind: string, extra: Partial<LaneTrack> = {}): LaneTrack => ({
  id,
  name: `t${id}`,
  kind,
  order: 0,
  slices: 1,
  points: 0,
  depth: 2,
  ...extra,
});
const tracks = [
  track(0, 'process', {slices: 0}),
  track(1, 'thread', {parent: 0, order: 2}),
  track(2, 'thread', {parent: 0, order: 1}),
  track(3, 'process', {slices: 0}),
  track(4, 'counter', {parent: 3, slices: 0, points: 5}),
  track(5, 'process', {slices: 0}),
];
const ids = (lanes: ReturnType<typeof layLanes>): number[] => lanes.map(lane => lane.track);

test('processes head their tracks, in order; empty ones are left out', () => {
  expect(layLanes(tracks).map(lane => [lane.track, lane.kind])).toEqual([
    [0, 'header'],
    [2, 'slices'],
    [1, 'slices'],
    [3, 'header'],
    [4, 'counter'],
  ]);
});

test('folded processes take one line that sums up their tracks, hidden tracks none, pinned ones come first', () => {
  const folded = layLanes(tracks, {...NO_CHOICE, fold: [0], hide: [4]});
  expect(ids(folded)).toEqual([0]);
  expect(folded[0]!.inner).toEqual([2, 1]);
  expect(laneOf(folded, 1)).toBe(folded[0]);
  expect(ids(layLanes(tracks, {...NO_CHOICE, pins: [1]}))).toEqual([1, 0, 2, 3, 4]);
});

test('a track moves among its siblings, a process among processes', () => {
  const order = moveTrack(tracks, NO_CHOICE, 1, -1);
  expect(ids(layLanes(tracks, {...NO_CHOICE, order}))).toEqual([0, 1, 2, 3, 4]);
  const both = moveTrack(tracks, {...NO_CHOICE, order}, 3, -1);
  expect(ids(layLanes(tracks, {...NO_CHOICE, order: both}))).toEqual([3, 4, 0, 1, 2]);
  expect(moveTrack(tracks, NO_CHOICE, 2, -1)).toEqual([2, 1]); // the first stays the first
});

test('a lane is found by position', () => {
  const lanes = layLanes(tracks);
  for (const lane of lanes) expect(laneAt(lanes, lane.top + 1)).toBe(lane);
  expect(laneAt(lanes, 1e6)).toBeNull();
});

test('a filter leaves tracks by their name or that of their process', () => {
  const shown = (text: string): number[] => ids(layLanes(tracks, {...NO_CHOICE, only: tracksNamed(tracks, text)}));
  expect(shown('')).toEqual([0, 2, 1, 3, 4]);
  expect(shown('T1')).toEqual([0, 1]);
  expect(shown('t3')).toEqual([3, 4]);
  expect(shown('/^t[14]$/')).toEqual([0, 1, 3, 4]);
  expect(shown('/(/')).toEqual([]);
});
