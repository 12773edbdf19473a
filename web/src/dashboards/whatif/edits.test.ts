import {describe, expect, it} from 'vitest';
import {binned, cellText, parseFormula, typedCell} from './edits.ts';

describe('cells', () => {
  it('are read as they are written', () => {
    expect(typedCell(cellText([1, 2.5]), true, true)).toEqual([1, 2.5]);
    expect(typedCell('4 x', true, false)).toBeUndefined();
    expect(typedCell('', true, false)).toBeNull();
    expect(typedCell(' a b', false, false)).toBe(' a b');
    expect(cellText(null)).toBe('');
  });
});
describe('formulas', () => {
  it('change one feature', () => {
    expect(parseFormula('age + 5', ['age'])?.apply(20)).toBe(25);
    expect(parseFormula('age = age * 2', ['age'])?.apply(20)).toBe(40);
    expect(parseFormula('age = 3', ['age'])?.apply(20)).toBe(3);
    expect(parseFormula('age = -3.5e1', ['age'])?.apply(20)).toBe(-35);
    expect(parseFormula('age = job + 2', ['age', 'job'])).toBeNull();
    expect(parseFormula('nothing', ['age'])).toBeNull();
    expect(parseFormula('who + 1', ['age'])).toBeNull();
  });
});

it('bins of changes', () => {
  expect(binned([0, 0.1, 0.9, 1], 2)).toEqual({lo: 0, hi: 1, counts: [2, 2]});
  expect(binned([3, 3], 2).counts).toEqual([0, 2]);
  expect(binned([0.5, 0.5 + 2 ** -53], 2).hi).toBeCloseTo(0.55);
  expect(binned([], 2).counts).toEqual([0, 0]);
});
