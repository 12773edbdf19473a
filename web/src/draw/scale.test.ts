import {expect, test} from 'vitest';
import {createScale, linearTicks, niceDomain, ticksOf} from './scale.ts';

test('ticks are 1, 2, 5 and share their decimals', () => {
  expect(linearTicks(0, 1, 5)).toEqual([0, 0.2, 0.4, 0.6, 0.8, 1]);
  expect(ticksOf(createScale('linear', [0, 40000]), 'step', 4).labels).toEqual(['0', '10k', '20k', '30k', '40k']);
  expect(ticksOf(createScale('linear', [-0.2, 0.2]), 'value', 4).labels).toEqual(['−0.2', '−0.1', '0.0', '0.1', '0.2']);
});

test('log ticks are decades, with 2 and 5 on short ranges', () => {
  expect(ticksOf(createScale('log', [0.5, 200]), 'value', 4).values).toEqual([1, 10, 100]);
  expect(ticksOf(createScale('log', [1, 20]), 'value', 4).values).toEqual([1, 2, 5, 10, 20]);
});

test('a scale inverts itself', () => {
  for (const kind of ['linear', 'log', 'symlog'] as const) {
    const scale = createScale(kind, [0.01, 500]);
    expect(scale.at(0.01)).toBeCloseTo(0);
    expect(scale.value(scale.at(7))).toBeCloseTo(7);
  }
});

test('ranges of flat and empty data', () => {
  expect(niceDomain('linear', 0, 0)).toEqual([-1, 1]);
  expect(niceDomain('linear', 3, 3)).toEqual([0, 6]);
  expect(niceDomain('linear', -3, -3)).toEqual([-6, 0]);
  expect(niceDomain('linear', NaN, NaN)).toEqual([0, 1]);
  expect(niceDomain('log', 1, 1)).toEqual([0.5, 2]);
  const [low, high] = niceDomain('log', 0.85, 1);
  expect(low).toBeGreaterThan(0.8);
  expect(high).toBeLessThan(1.05);
  expect(niceDomain('log', 1, 1e6)).toEqual([0.5, 2e6]);
  expect(niceDomain('log', -2, -1)).toEqual([Number.MIN_VALUE, 1]);
  const [a, b] = niceDomain('linear', 0.13, 0.97);
  expect(a).toBeLessThanOrEqual(0.088);
  expect(b).toBeGreaterThanOrEqual(1.012);
});

test('steps are whole where whole ones are in sight', () => {
  expect(ticksOf(createScale('linear', [0, 2]), 'step', 5).labels).toEqual(['0', '1', '2']);
  expect(ticksOf(createScale('linear', [3.2, 3.8]), 'step', 4).labels.length).toBeGreaterThan(1);
  expect(ticksOf(createScale('linear', [0, 2]), 'value', 5).labels).toContain('0.5');
});
