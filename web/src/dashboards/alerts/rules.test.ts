import {expect, test} from 'vitest';
import {draftOf, settingsOf} from './rules.ts';

test('a rule comes back as it was written, without what holds anyway', () => {
  const settings = {when: 'spike', tag: 'loss', runs: '^a', per: 'group', min_z: '5'};
  expect(settingsOf(draftOf('x', settings))).toEqual({...settings, min_z: 5});
  expect(settingsOf(draftOf('x', {when: 'plateau', patience: '200', higher_is_better: 'true'}))).toEqual({
    when: 'plateau',
    higher_is_better: true,
  });
  expect(settingsOf(draftOf('x', {when: 'val/acc < 0.5', tag: 'not of an expression'}))).toEqual({
    when: 'val/acc < 0.5',
  });
});
