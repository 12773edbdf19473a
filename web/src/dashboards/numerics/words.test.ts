import {expect, test} from 'vitest';
import type {TensorHealth} from '../../data/numerics.ts';
import {countsOf, isFunction, numbersOf, plainName, shapeOf} from './words.ts';

const health: TensorHealth = {
  bad: 4,
  dtype: 1,
  rank: 2,
  shape: [3, 4],
  size: 12,
  neg_inf: 0,
  pos_inf: 0,
  nan: 2,
  negative: null,
  zero: 5,
  positive: null,
  numbers: {min: 0, max: 1.23456, rms: 'NaN'},
};

test('counts name what is not nought, bad ones first', () => {
  expect(countsOf(health)).toEqual([
    {kind: 'bad', text: '2 NaN'},
    {kind: 'plain', text: '5 0'},
  ]);
});

test('numbers that are none are left out', () => {
  expect(numbersOf(health)).toBe('min 0 · max 1.235');
  expect(shapeOf(health).startsWith('float32 · 3 × 4')).toBe(true);
});

test('functions go by their own names', () => {
  expect(plainName('__inference_train_step_123')).toBe('train_step');
  expect(isFunction('__inference_f_1')).toBe(true);
  expect(isFunction('MatMul')).toBe(false);
});
