import {expect, it} from 'vitest';
import {createCache} from './cache.ts';

function counted(side: number) {
  const loads: string[] = [];
  return {loads, load: (ref: string) => Promise.resolve((loads.push(ref), {width: side, height: side}))};
}

it('forgets by bytes, the longest unasked first', async () => {
  const {loads, load} = counted(10);
  const get = createCache(load, 1200); // three of 400 bytes
  for (const ref of ['a', 'b', 'c', 'a', 'd']) await get(ref);
  for (const ref of ['a', 'c', 'd', 'b']) await get(ref);
  expect(loads.join('')).toBe('abcdb');
});
it('keeps the two in view however large', async () => {
  const {loads, load} = counted(1000);
  const get = createCache(load, 1);
  for (const ref of ['a', 'b', 'a', 'b', 'c', 'a']) await get(ref);
  expect(loads.join('')).toBe('abca');
});
it('asks again for what failed', async () => {
  let tries = 0;
  const get = createCache(
    () => (++tries === 1 ? Promise.reject(new Error('away')) : Promise.resolve({width: 1, height: 1})),
    100,
  );
  await expect(get('a')).rejects.toThrow('away');
  await expect(get('a')).resolves.toBeDefined();
});
