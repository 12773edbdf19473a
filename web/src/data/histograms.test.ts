import {readFileSync} from 'node:fs';
import {expect, it} from 'vitest';
import {decodeColumns} from './columns.ts';
import {decodeHistograms} from './histograms.ts';

it('reads the recorded answer: shapes fit and every step keeps its total', () => {
  const bytes = readFileSync('../tests/fixtures/api/histograms.bin');
  const answer = decodeHistograms(
    decodeColumns(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer),
  );
  const n = answer.steps.length;
  const bins = answer.edges.length - 1;
  expect(n).toBeGreaterThan(0);
  expect([answer.walls.length, answer.counts.length, answer.percentiles.length, answer.stats.length]).toEqual([
    n,
    n * bins,
    n * 9,
    n * 6,
  ]);
  for (let s = 0; s < n; s++) {
    const sum = answer.counts.subarray(s * bins, (s + 1) * bins).reduce((a, b) => a + b, 0);
    expect(sum).toBeCloseTo(answer.stats[s * 6 + 2]!, 2);
    const nine = [...answer.percentiles.subarray(s * 9, s * 9 + 9)];
    expect(nine).toEqual([...nine].sort((a, b) => a - b));
  }
});
