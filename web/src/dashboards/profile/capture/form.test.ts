import {expect, test} from 'vitest';
import {DEFAULTS, extraOptions, remembered, requestOf} from './form.ts';

test('what was kept fills the form as far as it makes sense', () => {
  expect(remembered(undefined)).toEqual(DEFAULTS);
  expect(remembered('x')).toEqual(DEFAULTS);
  expect(remembered({service: 'a:1', duration: 'long', retries: NaN, unknown: 1})).toEqual({
    ...DEFAULTS,
    service: 'a:1',
  });
});

test('extra options are lines of KEY=VALUE', () => {
  expect(extraOptions('')).toEqual({});
  expect(extraOptions(' a = b \n\nc=d=e\n')).toEqual({a: 'b', c: 'd=e'});
  expect(extraOptions('a=')).toEqual({a: ''});
  expect(extraOptions('novalue')).toBeNull();
  expect(extraOptions('=x')).toBeNull();
});

test('the request holds every field of the form', () => {
  expect(
    requestOf({...DEFAULTS, service: ' a:1 ', workers: 'b:2', duration: 5, python: '1', extra: 'k=v', root: 'r'}),
  ).toEqual({
    service: 'a:1',
    worker_list: 'b:2',
    duration_ms: 5,
    delay_ms: 0,
    retries: 3,
    host_tracer_level: 2,
    device_tracer_level: 1,
    python_tracer_level: 1,
    options: {k: 'v'},
    root: 'r',
  });
});
