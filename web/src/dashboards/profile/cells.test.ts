import {expect, test} from 'vitest';
import {cellText, changeText, compareCells, figureText} from './cells.ts';

test('figures carry the unit that fits', () => {
  expect(figureText(45.2, 'ms')).toBe('45.2\u202fms');
  expect(figureText(1500, 'us')).toBe('1.5\u202fms');
  expect(figureText(null)).toBe('—');
  expect(figureText(0.25, 'fraction')).toBe('25\u202f%');
  expect(figureText('A100')).toBe('A100');
});

test('cells, changes and order', () => {
  expect(cellText(true)).toBe('yes');
  expect(cellText(12)).toBe('12');
  expect(changeText(110, 100)).toBe('+10.0\u202f%');
  expect(changeText('a', 1)).toBe('');
  expect(compareCells('op2', 'op10')).toBeLessThan(0);
  expect(compareCells(3, 2)).toBeGreaterThan(0);
});
