import {expect, it} from 'vitest';
import {selectAt} from './select.ts';

it('selectAt is what sorting would put there', () => {
  let state = 7;
  const random = (): number => (state = (state * 48271) % 2147483647) / 2147483647;
  for (const n of [1, 2, 3, 10, 501]) {
    const list = Float64Array.from({length: n}, () => Math.round(random() * 40)); // with repeats
    const sorted = list.slice().sort();
    for (let k = 0; k < n; k += Math.max(1, n >> 4)) expect(selectAt(list.slice(), k)).toBe(sorted[k]);
  }
  expect(selectAt(new Float64Array(0), 0)).toBeNaN();
  expect(selectAt(Float64Array.of(3), 1)).toBeNaN();
});
