import {expect, it} from 'vitest';
import {isSystem, titleOf} from './tags.ts';

it('names metrics of the machine and their units', () => {
  expect(isSystem('system/cpu_percent')).toBe(true);
  expect(isSystem('loss')).toBe(false);
  expect(titleOf('system/cpu_percent')).toEqual({title: 'cpu', unit: '%'});
  expect(titleOf('system/disk/read_bytes_per_s')).toEqual({title: 'disk read', unit: 'bytes/s'});
  expect(titleOf('system/gpu0/temperature_c')).toEqual({title: 'gpu0 temperature', unit: '°C'});
  expect(titleOf('system/process/threads')).toEqual({title: 'process threads', unit: ''});
});
