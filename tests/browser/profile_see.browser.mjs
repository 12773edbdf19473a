// Pictures beyond the originals': keys without a click, all ranks on one axis, the critical path, ranks, memory snapshots.
import {copyFileSync, mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {gunzipSync} from 'node:zlib';
import {api, hash, plain, q, region, report, rowsOf, stateOf} from './captures.mjs';
import {axe, check, equal, eventually, ROOT, settled, temporary, test} from './harness.mjs';

const RANKS = 'ddp/two';
const GPU = 'train/gpu';
const SNAPSHOT = 'memory/made_memory.pickle';
const DATA = join(ROOT, 'tests/data/profile');

let own;
function logdir() {
  if (own !== undefined) return own;
  own = temporary();
  const put = (folder, name, source) => {
    mkdirSync(join(own, folder), {recursive: true});
    writeFileSync(join(own, folder, name), gunzipSync(readFileSync(join(DATA, source))));
  };
  for (const rank of [0, 1])
    put('ddp/plugins/profile/two', `worker${rank}.pt.trace.json`, `torch_gloo_2ranks.worker${rank}.pt.trace.json.gz`);
  put('train/plugins/profile/gpu', 'worker0.pt.trace.json', 'made_gpu.worker0.pt.trace.json.gz');
  mkdirSync(join(own, 'memory'));
  copyFileSync(join(DATA, 'made_memory.pickle'), join(own, 'memory/made_memory.pickle'));
  return own;
}
async function trace(open, page, view) {
  await open(logdir(), hash({tool: 'trace_viewer', ...view}));
  await page.locator('.stage[data-ready]').first().waitFor();
  await settled(page);
}
async function tool(open, page, session, name, view = {}) {
  await open(logdir(), hash({session, tool: name, ...view}));
  await page.locator('.scroll .card').first().waitFor();
  await settled(page);
}
const placed = page => eventually(() => typeof stateOf(page).t1, 'number', 'the place is in the link');

test('see: keys work at once, and those who type keep theirs', async ({page, open}) => {
  await trace(open, page, {session: GPU});
  await placed(page);
  const {t0, t1} = stateOf(page);
  await page.keyboard.press('w'); // nothing was clicked
  await eventually(() => Math.abs(stateOf(page).t1 - stateOf(page).t0 - (t1 - t0) * 0.7) < 10, true, 'W zooms in');
  await page.keyboard.press('0');
  await eventually(() => Math.abs(stateOf(page).t1 - stateOf(page).t0 - (t1 - t0)) < 10, true, '0 shows all');
  // From the list of tools too, whose link keeps the focus.
  await tool(open, page, GPU, 'torch.kernel');
  await page.getByRole('link', {name: 'Trace viewer'}).or(page.getByRole('button', {name: 'Trace viewer'})).first().click();
  await page.locator('.stage[data-ready]').first().waitFor();
  await placed(page);
  const again = stateOf(page);
  await page.keyboard.press('w');
  await eventually(() => stateOf(page).t1 - stateOf(page).t0 < (again.t1 - again.t0) * 0.8, true, 'after a click elsewhere');
  const zoomed = stateOf(page);
  const field = page.locator('.find input');
  await field.focus();
  await page.keyboard.type('was');
  equal(await field.inputValue(), 'was', 'the field has the letters');
  equal([stateOf(page).t0, stateOf(page).t1], [zoomed.t0, zoomed.t1], 'and the window stays');
});

test('see: all ranks stand on one axis', async ({page, open}) => {
  await trace(open, page, {session: RANKS, host: 'ALL_HOSTS'});
  const info = await api(logdir(), `trace/tracks?session=${q(RANKS)}&host=all`);
  const [first, second] = await Promise.all(
    [0, 1].map(host => api(logdir(), `trace/tracks?session=${q(RANKS)}&host=${host}`)),
  );
  equal(info.slices, first.slices + second.slices, 'every slice of both');
  check(info.diagnostics.some(text => /aligned by the ends of \d+ shared collectives/.test(text)), info.diagnostics.join());
  for (const rank of ['worker0', 'worker1'])
    check((await page.locator(`.labels .name[title*="${rank}"]`).count()) > 0, `${rank} has tracks`);
  await page.getByRole('button', {name: 'Host All hosts on one axis'}).click();
  await page.getByRole('option', {name: 'worker1', exact: true}).click();
  await eventually(() => stateOf(page).host, 'worker1', 'back to one');
});

test('see: the critical path is a table and a track', async ({page, open}) => {
  const path = await report(logdir(), GPU, 'critical_path');
  await tool(open, page, GPU, 'critical_path');
  await page.getByText(path.findings[0].text).waitFor();
  equal(await axe(page), [], 'accessible');
  await page.getByRole('button', {name: 'Show in the trace viewer'}).click();
  await page.locator('.stage[data-ready]').first().waitFor();
  await page.locator('.labels .name[title="Critical path"]').first().waitFor();
  // A part of it is selected like any slice.
  const parts = rowsOf(path, 'path');
  const longest = parts.reduce((a, b) => (b.dur_ms > a.dur_ms ? b : a));
  await settled(page);
  await placed(page);
  const {t0, t1} = stateOf(page);
  const box = await page.locator('.stage canvas').first().boundingBox();
  const lane = await page
    .locator('.labels .lane', {has: page.locator('.name[title="Critical path"]')})
    .last()
    .boundingBox();
  const middle = (longest.start_ms + longest.dur_ms / 2) * 1e9;
  await page.mouse.click(box.x + ((middle - t0) / (t1 - t0)) * box.width, lane.y + 10);
  await page.locator('.drawer', {hasText: longest.kind}).waitFor();
});

test('see: ranks in one picture and one sentence', async ({page, open}) => {
  const ranks = await report(logdir(), RANKS, 'torch.ranks');
  await tool(open, page, RANKS, 'torch.ranks');
  await page.getByRole('status').filter({hasText: ranks.findings[0].text}).waitFor();
  const field = region(page, 'Own time: rank by step');
  await field.waitFor();
  const box = await field.locator('canvas').boundingBox();
  const own = rowsOf(ranks, 'own_time');
  const steps = [...new Set(own.map(row => row.step))];
  // The cell of the second rank in the first step.
  await page.mouse.move(box.x + 120 + (box.width - 128) / steps.length / 2, box.y + 4 + (box.height - 24) * 0.75);
  const tip = field.locator('table');
  await tip.waitFor();
  check(plain(await field.innerText()).includes('worker1'), 'the tooltip names the rank');
  await region(page, 'How late each rank arrives, collective by collective').waitFor();
  equal(await axe(page), [], 'accessible');
});

for (const dark of [false, true])
  test(`see: a memory snapshot, ${dark ? 'dark' : 'light'}`, async ({page, open}) => {
    const found = await report(logdir(), SNAPSHOT, 'memory_snapshot');
    await tool(open, page, SNAPSHOT, 'memory_snapshot');
    await page.getByRole('status').filter({hasText: found.findings[0].text}).waitFor();
    const timeline = region(page, 'Memory over time');
    await timeline.waitFor();
    await region(page, 'Memory at the peak by call').waitFor();
    await region(page, 'Segments and their holes').waitFor();
    await timeline
      .getByRole('radio', {name: 'Single allocations'})
      .or(timeline.getByRole('button', {name: 'Single allocations'}))
      .click();
    // A click on a band shows who allocated it.
    const box = await timeline.locator('canvas').boundingBox();
    await page.mouse.move(box.x + 70, box.y + box.height - 30);
    await page.mouse.click(box.x + box.width / 2, box.y + box.height - 30);
    await region(page, 'Selected allocation').locator('pre').waitFor();
    check((await region(page, 'Selected allocation').innerText()).includes('train.py'), 'its stack');
    equal(await axe(page), [], 'accessible');
  }, {dark});

test('see: the segments of a moment follow a click on the curve', async ({page, open}) => {
  await tool(open, page, SNAPSHOT, 'memory_snapshot');
  const segments = region(page, 'Segments and their holes');
  const used = async () => plain(await segments.locator('h2').innerText());
  const [peak, end] = await Promise.all(
    ['', '&time_ms=1000000'].map(more => report(logdir(), SNAPSHOT, 'memory_snapshot', more)),
  );
  const held = found => found.document.moment.blocks.reduce((sum, block) => sum + block.bytes, 0) / 2 ** 20;
  check(held(peak) !== held(end), 'the peak and the end differ');
  await eventually(async () => (await used()).includes(`${held(peak)} MiB of 512 MiB`), true, 'first the peak');
  const box = await region(page, 'Memory over time').locator('canvas').boundingBox();
  await page.mouse.move(box.x + box.width - 14, box.y + 60);
  await page.mouse.click(box.x + box.width - 14, box.y + 60);
  await eventually(async () => typeof stateOf(page).ask?.time_ms, 'string', 'the moment is in the link');
  await eventually(async () => (await used()).includes(`${held(end)}.0 MiB of 512 MiB`), true, 'then what was clicked');
  // What the last row of the curve holds is what the snapshot holds: the two views agree.
  await segments.getByRole('radio', {name: 'In the snapshot'}).or(segments.getByRole('button', {name: 'In the snapshot'})).click();
  await eventually(async () => (await used()).includes(`${held(end)}.0 MiB of 512 MiB`), true, 'as the snapshot');
});

test('see: kernels by short names, their time beside them, the whole name on request', async ({page, open}) => {
  await tool(open, page, GPU, 'kernel_stats');
  const kernels = rowsOf(await report(logdir(), GPU, 'kernel_stats'), 'kernels');
  const long = kernels.find(row => row.kernel_name.includes('<'));
  check(long !== undefined, 'a kernel of a template');
  const table = page.locator('[data-table=kernels]');
  const heads = (await table.locator('thead th').allInnerTexts()).map(plain);
  check(heads.findIndex(head => head.startsWith('Total')) < 5, `the time is in sight: ${heads.join(', ')}`);
  const shown = async () => (await table.locator('tbody tr:not(.pad) td:first-child').allInnerTexts()).map(plain);
  check(!(await shown()).some(name => /<|^void /.test(name)), (await shown()).join(' | '));
  check((await table.locator(`td[title="${long.kernel_name}"]`).count()) > 0, 'the whole name is the tooltip');
  await table.getByRole('button', {name: 'Columns'}).click();
  await page.getByRole('menuitemcheckbox', {name: 'Template arguments'}).click();
  await eventually(async () => (await shown()).some(name => name.startsWith('void ')), true, 'with template arguments');
});
