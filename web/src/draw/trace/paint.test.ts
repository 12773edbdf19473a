import {expect, test} from 'vitest';
import {formatPicos, timeTicks} from './time-axis.ts';
import {cellAt, type Scene} from './paint.ts';

test('ticks are round and share a unit', () => {
  const axis = timeTicks(0, 5e9, 500);
  expect(axis.step).toBe(1e9);
  expect(axis.label(2e9)).toBe('2\u202fms');
  expect(timeTicks(0, 2e12, 400).label(5e11)).toBe('0.5\u202fs');
  expect(formatPicos(130_700_000)).toBe('130.7\u202fµs');
  expect(formatPicos(2_600_000_000)).toBe('2.6\u202fms');
});

test('the cell under a pixel is found, also when it is narrow', () => {
  const scene = {
    t0: 0,
    t1: 1000,
    width: 1000,
    height: 100,
    scroll: 0,
    lanes: [{track: 1, kind: 'slices', name: '', top: 0, height: 39, rows: 2, folded: false, inner: []}],
    cells: {
      t0: 0,
      tick: 1,
      rows: [{track: 1, depth: 0, from: 0, to: 2}],
      start: Uint32Array.of(100, 500),
      dur: Uint32Array.of(50, 0),
      name: Uint32Array.of(0, 1),
      slice: Uint32Array.of(7, 8),
      busy: Uint8Array.of(255, 255),
    },
    counters: [],
    names: [],
    palette: [],
    selected: null,
    bright: null,
    skip: null,
    areas: [],
    steps: [],
    arrows: [],
    allLanes: [],
    notes: [],
  } as unknown as Scene;
  expect(cellAt(scene, 120, 5)?.index).toBe(0);
  expect(cellAt(scene, 501, 5)?.index).toBe(1);
  expect(cellAt(scene, 300, 5)).toBeNull();
  expect(cellAt(scene, 120, 25)).toBeNull();
  expect(cellAt({...scene, skip: Uint8Array.of(1, 0)}, 120, 5)).toBeNull(); // of a category that is not shown
});
