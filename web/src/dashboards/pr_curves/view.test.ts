import {expect, test} from 'vitest';
import {indexOfThreshold} from './view.svelte.ts';

const thresholds = [0, 0.1, 0.2, 0.3, 0.6];

test.each([
  ['a threshold of the curve', 0.2, 2],
  ['one between two of them', 0.24, 2],
  ['one just beside the last', 0.63, 4],
  ['one where nothing was predicted', 0.95, -1],
])('the point at %s', (_, at, index) => expect(indexOfThreshold(thresholds, at)).toBe(index));

test('an empty curve has no point', () => expect(indexOfThreshold([], 0.5)).toBe(-1));
