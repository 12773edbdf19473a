import {expect, test} from 'vitest';
import {encodeView, hashOf, readUrl} from './url.ts';

test('a view survives the address bar', () => {
  const slices = {ts: {filter: 'loss|é/√', pins: ['a/b']}, runs: {flip: ['x']}};
  const back = readUrl(`http://h/p/${hashOf('timeseries', encodeView(slices))}`);
  expect(back).toEqual({tab: 'timeseries', slices, saved: null});
  expect(readUrl('http://h/#images&v=@abc').saved).toBe('abc');
  expect(readUrl('http://h/#images&v=1.%%%').slices).toEqual({});
});

test('links of TensorBoard are understood', () => {
  const selection = btoa(JSON.stringify({a: true, b: false}));
  const state = readUrl(
    `http://h/?smoothing=0.9&runFilter=adam&pinnedCards=${encodeURIComponent('[{"plugin":"scalars","tag":"loss"},{"plugin":"images","tag":"x"},7]')}#scalars&tagFilter=acc&runSelectionState=${selection}`,
  );
  expect(state.tab).toBe('scalars');
  expect(state.slices).toEqual({
    ts: {smooth: {kind: 'ema', p: 0.9}, filter: 'acc', pins: ['loss']},
    runs: {filter: 'adam', base: 'all', flip: ['b']},
  });
});
