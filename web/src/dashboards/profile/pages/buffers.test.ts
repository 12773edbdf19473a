import {expect, test} from 'vitest';
import {buffersOf} from './buffers.ts';

test('buffers: padding is what a buffer takes beyond its shape; small ones together have a name and none', () => {
  const {alive} = buffersOf({
    maxHeap: [
      {
        label: 'a: f32[3] # x',
        instructionName: 'a',
        logicalBufferId: 4,
        logicalBufferSizeMib: 2,
        unpaddedShapeMib: 1.5,
      },
      {label: 'small (<16384 bytes)', logicalBufferId: -1, logicalBufferSizeMib: 0.5},
    ],
  });
  expect(alive.map(({name, mib, unpadded}) => [name, mib - unpadded])).toEqual([
    ['a', 0.5],
    ['small (<16384 bytes)', 0],
  ]);
});
