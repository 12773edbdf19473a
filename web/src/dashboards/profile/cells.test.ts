import {expect, test} from 'vitest';
import {cellText, changeText, compareCells, figureText, isAdaptive, unitText} from './cells.ts';

test('figures carry the unit that fits', () => {
  expect(figureText(45.2, 'ms')).toBe('45.2\u202fms');
  expect(figureText(1500, 'us')).toBe('1.5\u202fms');
  expect(figureText(null)).toBe('—');
  expect(figureText(0.25, 'fraction')).toBe('25\u202f%');
  expect(figureText('A100')).toBe('A100');
  expect([figureText(3.92e-5, '%'), figureText(0, '%'), cellText(6.6e-9, 'fraction')]).toEqual([
    '<\u202f0.001\u202f%',
    '0\u202f%',
    '<\u202f0.001\u202f%',
  ]);
  expect(figureText(1_307_000, 'GFLOP/s')).toBe('1307\u202fTFLOP/s');
  expect(figureText(45_000_000, 'GFLOP/s')).toBe('45\u202fPFLOP/s');
  expect(figureText(0.02, 'GFLOP/s')).toBe('20\u202fMFLOP/s');
  expect(figureText(3352, 'GB/s')).toBe('3352\u202fGB/s');
});

test('sizes of any unit and sign read alike', () => {
  expect(figureText(0.006046, 'MiB')).toBe('6.2\u202fKiB');
  expect(cellText(0.006046, 'MiB')).toBe('6.2\u202fKiB');
  expect(cellText(-4096, 'bytes')).toBe('\u22124.0\u202fKiB');
  expect(cellText(-0.2, 'bytes')).toBe('0\u202fB');
  expect(cellText(1536, 'GiB')).toBe('1.5\u202fTiB');
  expect(cellText(12.5, 'GiB/s')).toBe('12.5'); // a rate keeps the unit of its header
  expect([isAdaptive('MiB'), isAdaptive('us'), unitText('us')]).toEqual([true, false, 'µs']);
});

test('cells, changes and order', () => {
  expect(cellText(true)).toBe('yes');
  expect(cellText(12)).toBe('12');
  expect(cellText(-100)).toBe('\u2212100');
  expect([cellText(0.00093, 'ms'), cellText(4.97e-7, 'ms'), cellText(0.0123, 'ms')]).toEqual([
    '0.000930',
    '0.000000497',
    '0.0123',
  ]);
  expect(changeText(110, 100)).toBe('+10.0\u202f%');
  expect(changeText('a', 1)).toBe('');
  expect([changeText(0, 0), changeText(3, 0), changeText(NaN, 1)]).toEqual(['±0.0\u202f%', 'profile.was', '']);
  expect([changeText(1099, 100), changeText(3400, 100)]).toEqual(['+999.0\u202f%', '×34']);
  expect(compareCells('op2', 'op10')).toBeLessThan(0);
  expect(compareCells(3, 2)).toBeGreaterThan(0);
});
