import {expect, it} from 'vitest';
import type {Performance, Sweep} from '../../data/whatif.ts';
import {addMessages} from '../../text/messages.ts';
import messages from './messages.json';
import {reportOf} from './report.ts';

addMessages(messages);
const flat = (n: number): number[] => new Array<number>(101).fill(n);
const sweep = (tp: number, fp: number, tn: number, fn: number): Sweep => ({
  tp: flat(tp),
  fp: flat(fp),
  tn: flat(tn),
  fn: flat(fn),
});
const found: Performance = {
  task: 'binary',
  label: 'y',
  label_names: ['0', '1'],
  features: ['city'],
  all: {name: 'all', keys: [], count: 40, sweep: sweep(12, 4, 16, 8), auc: [0.8, 0.7, 0.9]},
  slices: [
    {name: 'north', keys: ['north'], count: 20, sweep: sweep(10, 0, 10, 0)},
    {name: 'a|b [x](y)', keys: ['a|b'], count: 20, sweep: sweep(2, 4, 6, 8)},
  ],
  strategies: [],
};

it('says what the page shows, and no value ends its cell', () => {
  const text = reportOf({
    set: 'loans',
    model: 'm',
    label: 'y',
    link: 'http://localhost/#whatif',
    found,
    worst: [{conditions: [['city', 'south']], support: 30, loss: [0.6, 0.4, 0.8], rest: 0.1, excess: 0.3}],
    thresholds: [50, 30],
    cost: 1,
  });
  const lines = text.split('\n');
  expect(lines[0]).toBe('# loans: m');
  expect(text).toMatch(/\| north \| 20 \| 0\.50 \| 0\.0.% \| 0\.0.% \| 100\.0.% \|/);
  expect(text).toContain('| a\\|b \\[x\\](y) | 20 | 0.30 |');
  // Custom: right 10 + 10 of the first, 2 + 6 of the second.
  expect(text).toMatch(/\| Custom \| 0\.50 · 0\.30 \| 12 \| 70\.0.% \|/);
  expect(text).toMatch(/\| city = south \| 30 \| 60\.0.% \| 40\.0.% – 80\.0.% \| 10\.0.% \|/);
});
