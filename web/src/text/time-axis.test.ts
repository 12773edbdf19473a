import {expect, it} from 'vitest';
import {timeLabels, timeShort, timesOf} from './time-axis.ts';

it('relative time counts from the first point', () => {
  expect([...timesOf('relative', new Float64Array([0, 1]), new Float64Array([100, 160]))]).toEqual([0, 60]);
});
it('short steps share one suffix', () => {
  const short = timeShort('step', new Float64Array([0, 8000, 40000]));
  expect([0, 8000, 40000].map(short)).toEqual(['0', '8k', '40k']);
  expect(timeShort('step', new Float64Array([0, 900]))(900)).toBe('900');
});
it('wall axes of days show dates', () => {
  expect(timeLabels('wall')([0, 86400 * 5])(86400 * 3)).toMatch(/^1970-01-0[34]$/);
  expect(timeLabels('wall')([0, 3600])(0)).toMatch(/^\d\d:\d\d:\d\d$/);
});
