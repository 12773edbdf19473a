import {describe, expect, test} from 'vitest';
import {bandAt, brief, callBoxes, offsetAt, type Band} from './snapshot.ts';

const band = (bytes: number, begin_ms: number, end_ms: number, path: number[], alive = false): Band => ({
  bytes,
  begin_ms,
  end_ms,
  address: '0x0',
  older: false,
  alive,
  site: '',
  path,
});

describe('a memory snapshot', () => {
  const bands = [band(10, 0, 5, [0, 0]), band(20, 1, 9, [1, 10, 5, 0], true)];

  test('what is freed lets those above it sink', () => {
    expect(offsetAt(bands[1]!, 2)).toBe(10);
    expect(offsetAt(bands[1]!, 6)).toBe(0);
    expect(offsetAt(bands[1]!, 0.5)).toBeNull();
    expect(offsetAt(bands[0]!, 6)).toBeNull();
  });

  test('the band under the pointer', () => {
    expect(bandAt(bands, 2, 5)).toBe(0);
    expect(bandAt(bands, 2, 15)).toBe(1);
    expect(bandAt(bands, 6, 15)).toBe(1);
    expect(bandAt(bands, 2, 31)).toBeNull();
  });

  test('calls share the width of the one around them', () => {
    const calls = [
      {name: '', parent: 0, bytes: 100},
      {name: 'main', parent: 0, bytes: 100},
      {name: 'a', parent: 1, bytes: 75},
      {name: 'b', parent: 1, bytes: 25},
    ];
    const boxes = callBoxes(calls, 0);
    expect(boxes.find(box => box.call === 3)).toEqual({call: 3, depth: 2, x: 0.75, w: 0.25});
    expect(callBoxes(calls, 2)).toEqual([{call: 2, depth: 0, x: 0, w: 1}]);
    expect(callBoxes([], 0)).toEqual([]);
  });

  test('a frame without its folders', () => {
    expect(brief('/srv/code/train.py(12): step')).toBe('train.py(12): step');
    expect(brief('torch::autograd::Engine')).toBe('torch::autograd::Engine');
  });
});
