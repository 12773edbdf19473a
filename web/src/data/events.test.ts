import {expect, test} from 'vitest';
import {createParser} from './events.ts';

test('events are read in any cut', () => {
  const got: unknown[] = [];
  const parse = createParser((event, id) => got.push([event.type, event.data, id]));
  for (const piece of [
    'id: b.1\nev',
    'ent: changed\nda',
    'ta: {"rev":7}\n',
    '\n: ping\n\nevent: reset\r\ndata: {}\r\n\r\n',
  ])
    parse(piece);
  expect(got).toEqual([
    ['changed', {rev: 7}, 'b.1'],
    ['reset', {}, 'b.1'],
  ]);
});
