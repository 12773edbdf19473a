import {describe, expect, it} from 'vitest';
import {decodeColumns, encodeColumns} from './columns.ts';
import {answerKey, leanColumns, packAnswers, recordedClient, textBytes, unpackAnswers} from './recorded.ts';

const question = {x: 'step', px: 400, range: null, agg: ['min'], series: [{tag: 'loss', runs: [1, 2]}], group: null};

function columnsOf(exact: 0 | 1): ArrayBuffer {
  const numbers = new Float64Array([1, 2, 3]);
  return encodeColumns(
    {series: {run: [4], n: [3], exact: [exact]}},
    Object.fromEntries(['x', 'min', 'max', 'mean', 'last'].map(name => [name, {t: 'f64', data: numbers}])),
  );
}

describe('recorded answers', () => {
  it('survive the file byte by byte', async () => {
    const bytes = new Uint8Array(70_000).map((_, i) => (i * 31) % 251);
    const back = await unpackAnswers(
      await packAnswers(
        new Map([
          ['a', textBytes({b: 1})],
          ['c', bytes],
          ['d', bytes.slice(0, 0)],
        ]),
      ),
    );
    expect([...back.keys()]).toEqual(['a', 'c', 'd']);
    expect(back.get('c')).toEqual(bytes);
    expect(back.get('d')!.length).toBe(0);
  });

  it('answer another width, a zoom and fewer runs, but no other tag or smoothing', () => {
    const key = answerKey('columns', question);
    expect(answerKey('columns', {...question, px: 90, range: [1, 2], series: [{tag: 'loss', runs: 'all'}]})).toBe(key);
    expect(answerKey('columns', {...question, series: [{tag: 'acc', runs: [1]}]})).not.toBe(key);
    expect(answerKey('columns', {...question, smooth: {kind: 'none', p: 0}})).not.toBe(key);
    const group = {sets: [{key: 'a', runs: [1]}], centre: 'mean', band: 'std'};
    expect(answerKey('columns', {...question, group})).not.toBe(key);
    expect(answerKey('columns', {...question, group: {...group, sets: []}})).toBe(
      answerKey('columns', {...question, group}),
    );
  });

  it('leave out what exact series repeat', () => {
    expect(decodeColumns(leanColumns(columnsOf(1)).buffer).names).toEqual(['x', 'last']);
    expect(decodeColumns(leanColumns(columnsOf(0)).buffer).names).toContain('min');
  });

  it('are what the client gives, and nothing else is there', async () => {
    const client = recordedClient(
      new Map([
        ['runs', textBytes({runs: []})],
        [answerKey('columns', question), new Uint8Array(columnsOf(1))],
      ]),
    );
    expect(await client.get('runs')).toEqual({runs: []});
    expect((await client.columns('columns', {...question, px: 7})).series[0]!.run).toBe(4);
    await expect(client.get('tags')).rejects.toThrow();
  });
});
