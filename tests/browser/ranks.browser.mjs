// A folder of digests on the Profile page: the map of ranks and steps, who keeps the others, SQL over all ranks, and the
// trace of one rank when it is opened.
import {execFileSync} from 'node:child_process';
import {mkdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {hash, plain, region, stateOf} from './captures.mjs';
import {axe, check, equal, eventually, ROOT, settled, temporary, test} from './harness.mjs';

const PROGRAM = process.env.SONDE_BINARY ?? join(ROOT, 'build/release/sonde');
const [RANKS, STEPS, SLOW] = [12, 5, 7];
const nameOf = rank => `rank${String(rank).padStart(2, '0')}.pt.trace.json`;
let own;
/** Twelve ranks of five steps; one computes longer, so that the others wait for it in each all-reduce. */
function logdir() {
  if (own !== undefined) return own;
  own = temporary();
  const captures = join(own, 'captures');
  mkdirSync(captures);
  for (let rank = 0; rank < RANKS; rank++) {
    const traceEvents = [];
    const compute = rank === SLOW ? 1900 : 1000 + rank;
    for (let step = 0; step < STEPS; step++) {
      const ts = 1000 + step * 3000;
      const slice = (name, cat, from, dur) =>
        traceEvents.push({ph: 'X', name, cat, pid: 1, tid: 1, ts: ts + from, dur});
      // Ranks do not end together: who is slow is slow to the end of its step.
      slice(`ProfilerStep#${step}`, 'user_annotation', 0, compute + 120 + (rank === SLOW ? 0 : 40));
      slice('aten::mm', 'cpu_op', 50, compute);
      slice('nccl:all_reduce', 'user_annotation', 60 + compute, rank === SLOW ? 5 : 45);
    }
    writeFileSync(join(captures, nameOf(rank)), JSON.stringify({schemaVersion: 1, traceEvents}));
  }
  const files = [...Array(RANKS).keys()].map(rank => join(captures, nameOf(rank)));
  execFileSync(PROGRAM, ['worker', ...files, '--out', join(own, 'digests')]);
  return own;
}
const link = () => hash({session: 'digest:digests'});

test('ranks: the map, the straggler and the collectives of a folder of digests', async ({page, open}) => {
  await open(logdir(), link());
  const map = region(page, 'Rank × step');
  await map.waitFor();
  await page.getByRole('img', {name: `Time of ${STEPS} steps on ${RANKS} ranks`}).waitFor();
  const stragglers = page.locator('[data-table=stragglers] tbody tr:not(.pad)');
  await stragglers.first().waitFor();
  check((await stragglers.first().innerText()).includes('rank07'), 'the slow rank comes first');
  const waits = page.locator('[data-table=collectives] tbody tr:not(.pad)');
  await waits.first().waitFor();
  equal(await waits.count(), STEPS, 'collectives');
  check((await waits.first().innerText()).includes('rank07'), 'the slow rank came last');
  equal(await axe(page), [], 'accessibility');
});

test('ranks: SQL over all ranks', async ({page, open}) => {
  await open(logdir(), link());
  const box = region(page, 'SQL over all ranks');
  const editor = box.getByRole('textbox');
  await editor.fill('select count(*) as n, count(distinct rank) as ranks from steps');
  await editor.press('Control+Enter');
  const cells = box.locator('tbody tr:not(.pad) td');
  await eventually(async () => (await cells.allInnerTexts()).map(plain).join(' '), `${RANKS * STEPS} ${RANKS}`);
  await editor.fill('select nothing from steps');
  await box.getByRole('button', {name: 'Run'}).click();
  await box.getByRole('alert').waitFor();
}, {console: false}); // a query that is refused is an answer with 400

test('ranks: a double click opens the trace of one rank', async ({page, open}) => {
  await open(logdir(), link());
  const row = page.locator('[data-table=stragglers] tbody tr:not(.pad)').first();
  await row.waitFor();
  await row.dblclick();
  await eventually(() => stateOf(page).session, `rank/${nameOf(SLOW)}`);
  await settled(page);
});
