import {expect, test} from 'vitest';
import {laneAt, layLanes, type LaneTrack} from './lanes.ts';

const track = (id: number, kind: string, extra: Partial<LaneTrack> = {}): LaneTrack => ({id, name: `t${id}`, kind, order: 0, slices: 1, points: 0, depth: 2, ...extra});
const tracks = [track(0, 'process', {slices: 0}), track(1, 'thread', {parent: 0, order: 2}), track(2, 'thread', {parent: 0, order: 1}), track(3, 'process', {slices: 0}), track(4, 'counter', {parent: 3, slices: 0, points: 5}), track(5, 'process', {slices: 0})];

test('processes head their tracks, in order; empty ones are left out', () => {
  expect(layLanes(tracks, new Set(), new Set(), []).map((lane) => [lane.track, lane.kind])).toEqual([[0, 'header'], [2, 'slices'], [1, 'slices'], [3, 'header'], [4, 'counter']]);
});

test('folded processes take one line, hidden tracks none, pinned ones come first', () => {
  expect(layLanes(tracks, new Set([0]), new Set([4]), []).map((lane) => lane.track)).toEqual([0, 3]);
  expect(layLanes(tracks, new Set(), new Set(), [1])[0]!.track).toBe(1);
});

test('a lane is found by position', () => {
  const lanes = layLanes(tracks, new Set(), new Set(), []);
  for (const lane of lanes) expect(laneAt(lanes, lane.top + 1)).toBe(lane);
  expect(laneAt(lanes, 1e6)).toBeNull();
});
