import {afterEach, expect, it, vi} from 'vitest';
import {client} from './client.ts';
import type {Columns} from './columns.ts';
import {loadEvery, middleOf} from './histograms.ts';

afterEach(() => void vi.restoreAllMocks());

it('half of the steps, and never all of them', () => {
  expect(middleOf(new Float64Array([1, 2, 3, 4]))).toBe(3);
  expect(middleOf(new Float64Array([4, 1, 4, 4]))).toBe(1);
  expect(middleOf(new Float64Array([4, 4]))).toBeNull();
  expect(middleOf(new Float64Array())).toBeNull();
});

it('asks until it has every step, each once', async () => {
  const TOTAL = 12_000;
  const asked: (readonly number[])[] = [];
  vi.spyOn(client(), 'columns').mockImplementation((_path, body) => {
    const {range, steps: most} = body as {range: readonly [number, number] | null; steps: number};
    const all = Array.from({length: TOTAL}, (_, step) => step).filter(
      step => range === null || (step >= range[0] && step <= range[1]),
    );
    asked.push(range ?? []);
    const kept =
      all.length <= most
        ? all
        : Array.from({length: most}, (_, i) => all[Math.round((i * (all.length - 1)) / (most - 1))]!);
    const answer: Partial<Columns> = {
      head: {total: all.length} as unknown as Columns['head'],
      col: ((name: string) => (name === 'step' ? Float64Array.from(kept) : undefined)) as Columns['col'],
    };
    return Promise.resolve(answer as Columns);
  });
  const answers = await loadEvery({run: 'r', tag: 't', bins: 1});
  const steps = answers.flatMap(one => [...one.steps]);
  expect(steps.length).toBe(TOTAL);
  expect(new Set(steps).size).toBe(TOTAL);
  expect(asked.length).toBeLessThan(12);
});
