import {expect, test} from 'vitest';
import type {Diagnosis} from '../../data/types.ts';
import {addMessages} from '../../text/messages.ts';
import {issuesOf} from './issues.ts';
import messages from './messages.json';

addMessages(messages);

function damaged(path: string, bytes: number): unknown {
  return {path, damage: [{severity: 'loss', offset: 0, length: bytes, text: 'lost', kind: 'x'}]};
}

test('the files that lost most come first, and those beyond twenty are counted', () => {
  const files = Array.from({length: 26}, (_, i) => damaged(`f${i}`, i + 1));
  const found = issuesOf({files, hints: [], skipped: []} as unknown as Diagnosis, []);
  expect(found[0]?.key).toBe('f25');
  expect(found.length).toBe(21);
  expect(found[20]?.title).toBe('6 more files have damaged regions');
});
