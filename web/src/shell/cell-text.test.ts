import {describe, expect, it} from 'vitest';
import {wordsOf} from './cell-text.ts';

const format = (value: number): string => value.toFixed(2);
const base = (cell: number | string | null) => ({name: 'r0', cell});

describe('cells of the run table', () => {
  it('say the value without a baseline', () => {
    expect(wordsOf(0.5, format, null)).toMatchObject({text: '0.50', isDelta: false});
    expect(wordsOf('adam', format, base('sgd'))).toMatchObject({text: 'adam', isDelta: false});
    expect(wordsOf(null, format, base(1))).toMatchObject({text: '', isDelta: false});
  });
  it('say the signed difference to a baseline', () => {
    expect(wordsOf(0.5, format, base(0.25)).text).toBe('+0.25');
    expect(wordsOf(0.25, format, base(0.5)).text).toBe('−0.25');
    expect(wordsOf(0.5, format, base(0.5)).text).toBe('±0');
  });
  it('say the value where either has none to compare', () => {
    expect(wordsOf(NaN, format, base(1)).isDelta).toBe(false);
    expect(wordsOf(1, format, base(NaN)).isDelta).toBe(false);
    expect(wordsOf(1, format, base(null)).isDelta).toBe(false);
  });
});
