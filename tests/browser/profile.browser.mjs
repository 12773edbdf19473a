// The profile pages and the trace viewer used as a person would: numbers on screen are those of the API, which has
// tests of its own against recorded answers. The captures of an input-bound pipeline and of the same pipeline
// repaired are the repository's own; tests on other devices use recorded captures and are skipped without them.
import {mkdirSync, readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {gunzipSync} from 'node:zlib';
import {api, column, hash, plain, q, region, report, stateOf} from './captures.mjs';
import {axe, check, equal, eventually, passes, ROOT, settled, shared, skip, temporary, test} from './harness.mjs';
import {writeRun} from './events.mjs';

const BOUND = 'train/bound';
const FIXED = 'train/fixed';
let own;
/** A run with a curve of 20 steps and the two captures of its steps 0 … 7. */
function logdir() {
  if (own !== undefined) return own;
  own = temporary();
  for (const [name, file] of [
    ['bound', 'tf_loop_input_bound'],
    ['fixed', 'tf_loop_input_fixed'],
  ]) {
    const folder = join(own, 'train/plugins/profile', name);
    mkdirSync(folder, {recursive: true});
    writeFileSync(
      join(folder, 'vm.xplane.pb'),
      gunzipSync(readFileSync(join(ROOT, 'tests/data/profile', `${file}.xplane.pb.gz`))),
    );
  }
  writeRun(
    own,
    'train',
    Array.from({length: 20}, (_, step) => [step, {loss: 1 / (1 + step)}]),
    1.7e9,
  );
  return own;
}

let samples;
/** Captures of other devices as log directories. */
function recorded() {
  const root = shared('profile_samples');
  if (root === null) skip();
  if (samples !== undefined) return samples;
  samples = temporary();
  for (const [group, name] of [
    ['A', 'tf_gpu_rtx5000_bs512'],
    ['A', 'jax_mi300_attention'],
    ['B', 'tf_multihost_2'],
    ['B', 'tf_mem_bfc'],
  ]) {
    const folder = join(samples, name, 'plugins/profile/s');
    mkdirSync(folder, {recursive: true});
    for (const file of readdirSync(join(root, group, name)).filter(one => one.endsWith('.xplane.pb.gz')))
      writeFileSync(join(folder, file.slice(0, -3)), gunzipSync(readFileSync(join(root, group, name, file))));
  }
  return samples;
}

async function trace(open, page, view, logs = logdir()) {
  await open(logs, hash({tool: 'trace_viewer', ...view}));
  await page.locator('.stage[data-ready]').first().waitFor();
  await settled(page);
}

test('profile: the overview shows the numbers of its report', async ({page, open}) => {
  await open(logdir(), hash({session: BOUND, tool: 'overview_page'}));
  const wanted = await report(logdir(), BOUND, 'overview_page');
  const value = id => wanted.figures.find(one => one.id === id).value;
  await page.locator('.figures dd.big').first().waitFor();
  await eventually(
    () =>
      page.locator('.figures dd.big').evaluateAll(nodes => nodes.slice(0, 2).map(node => node.getAttribute('title'))),
    [`${value('step_time_ms')} ms`, `${value('percent_6')} %`],
    'figures',
  );
  const steps = wanted.tables.find(one => one.id === 'step_times');
  const parts = region(page, 'Step breakdown');
  const input = steps.rows.reduce((sum, row) => sum + row[column(steps, 'infeedTimeMs')], 0) / steps.rows.length;
  const first = parts.locator('tbody tr').first();
  await eventually(async () => plain(await first.locator('td').first().innerText()), 'Input', 'largest part');
  await eventually(
    async () => Math.abs(Number(await first.locator('td').nth(1).getAttribute('title')) - input) < 1e-9,
    true,
    'mean input wait',
  );
  await eventually(
    async () =>
      (await page.getByRole('application', {name: /Step time/}).getAttribute('aria-label')).includes(
        `${steps.rows.length} Step`,
      ),
    true,
    'bars',
  );
  equal(await axe(page), [], 'accessibility');
});

test('profile: the story: cause and fix first, and Compare shows the gain', async ({page, open}) => {
  await open(logdir(), hash({session: BOUND, tool: 'overview_page'}));
  const finding = page.locator('.findings details').first();
  await finding.waitFor();
  await passes(async () => {
    check((await finding.locator('.tag').innerText()) === 'IN-WAIT', 'the first finding is the wait for input');
    check(/wait for input/.test(await finding.innerText()), 'its text names the cause');
    check(/num_parallel_calls/.test(await finding.locator('pre').innerText()), 'its change runs the map in parallel');
    check(/highly input-bound/.test(await region(page, 'Conclusion').innerText()), 'the conclusion');
  });
  await finding.getByRole('button', {name: /tf.data|tf_data/}).click();
  await region(page, 'Iterators of the call').waitFor();
  await eventually(
    async () => (await region(page, 'Iterators of the call').locator('g.strong').count()) > 1,
    true,
    'the critical path is marked',
  );
  // The repaired pipeline no longer has this finding on top, and against the bound one every number moves.
  await open(logdir(), hash({session: FIXED, tool: 'overview_page', baseline: BOUND}));
  await page.locator('.findings').waitFor();
  await eventually(
    async () => (await page.locator('.findings details .tag').allInnerTexts())[0] === 'IN-WAIT',
    false,
    'input is the first finding',
  );
  const both = await report(logdir(), FIXED, 'overview_page', `&baseline=${q(BOUND)}`);
  const step = both.figures.find(one => one.id === 'step_time_ms');
  check(step.value < step.baseline / 10, 'the step is ten times as fast');
  await passes(async () => {
    const words = plain(await page.locator('.figures div').first().innerText()).replaceAll('−', '-');
    check(words.includes(`-${((1 - step.value / step.baseline) * 100).toFixed(1)} %`), `gain on the page: ${words}`);
  });
  await eventually(
    () => region(page, 'Step breakdown').locator('th', {hasText: 'Δ'}).count(),
    1,
    'the parts show their change',
  );
  await page.getByRole('button', {name: 'Compare', exact: true}).click();
  await page.locator('.report-table').first().waitFor();
  equal(await axe(page), [], 'accessibility');
});

test('trace: keys move the window, the link restores it', async ({page, open}) => {
  await trace(open, page, {session: BOUND});
  const stage = page.locator('.stage').first();
  await stage.focus();
  await eventually(
    async () => stateOf(page).t1 !== undefined && stateOf(page).t1 !== null,
    true,
    'the place is in the link',
  );
  const before = stateOf(page);
  for (let i = 0; i < 4; i++) await page.keyboard.press('w');
  const span = (before.t1 - before.t0) * 0.7 ** 4; // what is on the way goes into the link too
  await eventually(async () => Math.abs(stateOf(page).t1 - stateOf(page).t0 - span) < 10, true, 'W zooms in');
  const zoomed = stateOf(page);
  await page.keyboard.press('d');
  await eventually(async () => Math.abs(stateOf(page).t0 - zoomed.t0 - 0.2 * span) < 10, true, 'D goes right');
  const moved = stateOf(page);
  await page.reload();
  await page.locator('.stage[data-ready]').first().waitFor();
  await settled(page);
  await eventually(() => [stateOf(page).t0, stateOf(page).t1], [moved.t0, moved.t1], 'after a reload');
  await page.locator('.stage').first().focus();
  await page.keyboard.press('0');
  await eventually(
    async () => Math.abs(stateOf(page).t1 - stateOf(page).t0 - (before.t1 - before.t0)) < 10,
    true,
    '0 shows the whole',
  );
  await page.keyboard.press('?');
  await page.getByRole('dialog').waitFor();
  equal(await axe(page), [], 'accessibility of the keys');
});

test('trace: search counts like the server, goes to hits, marks them', async ({page, open}) => {
  await trace(open, page, {session: BOUND});
  const wanted = await api(logdir(), `trace/search?session=${q(BOUND)}&host=0`, {q: 'MapAndBatch', limit: 3, px: 0});
  const field = page.getByRole('textbox', {name: 'Search slices'});
  await field.fill('MapAndBatch');
  await field.press('Enter');
  await eventually(
    async () => plain(await page.locator('.find').innerText()),
    `1 of ${String(wanted.total).replace(/\B(?=(\d{3})+$)/g, ' ')}`,
    'count',
  );
  await eventually(async () => stateOf(page).slice, wanted.hits[0].slice, 'the first hit');
  await field.press('Enter');
  await eventually(async () => stateOf(page).slice, wanted.hits[1].slice, 'the second hit');
  await field.press('Shift+Enter');
  await eventually(async () => stateOf(page).slice, wanted.hits[0].slice, 'and back');
  await page.locator('.axis i').first().waitFor({state: 'attached'});
  const detail = await api(logdir(), `trace/slice?session=${q(BOUND)}&host=0&id=${wanted.hits[0].slice}`);
  await page.locator('.drawer .called').getByText(detail.name, {exact: true}).waitFor();
  await settled(page); // the slice before has the same name
  await eventually(
    async () =>
      (await page.locator('.drawer dd').evaluateAll(nodes => nodes.map(node => node.getAttribute('title')))).includes(
        `${detail.dur} ps`,
      ),
    true,
    'the duration',
  );
  // Along the row by key.
  await page.locator('.stage').first().focus();
  if (detail.next !== undefined) {
    await page.keyboard.press('.');
    await eventually(async () => stateOf(page).slice, detail.next, 'the next slice of the row');
  }
  await page.keyboard.press('Escape');
  await eventually(async () => stateOf(page).slice ?? null, null, 'Esc clears');
});

test('trace: statistics of a dragged range are those of the server', async ({page, open}) => {
  await trace(open, page, {session: BOUND});
  const box = await page.locator('.stage canvas').first().boundingBox();
  await page.mouse.move(box.x + 200, box.y + 60);
  await page.mouse.down();
  await page.mouse.move(box.x + 600, box.y + 60, {steps: 5});
  await page.mouse.up();
  const table = page.locator('.drawer table');
  await table.waitFor();
  await eventually(async () => (await table.locator('tbody tr').count()) > 3, true, 'rows');
  await eventually(async () => stateOf(page).t1 != null, true, 'place');
  const {t0, t1} = stateOf(page);
  const at = x => t0 + (x / box.width) * (t1 - t0);
  const wanted = await api(logdir(), `trace/stats?session=${q(BOUND)}&host=0`, {
    t0: Math.floor(at(200)),
    t1: Math.ceil(at(600)),
  });
  const [first] = wanted.rows;
  const cells = table.locator('tbody tr').first().locator('td');
  await passes(async () => {
    // the numbers of a range on the way come first
    equal(plain(await cells.first().innerText()), first.name, 'largest name');
    const total = Number((await cells.nth(2).getAttribute('title')).replace(' ps', ''));
    check(
      Math.abs(total - Number(first.total)) <= Number(first.total) * 0.005,
      `total ${total}, wanted ${first.total}`,
    );
    equal(plain(await cells.nth(1).innerText()), String(first.count), 'count');
  });
  await page.getByRole('radio', {name: 'Call stacks'}).click();
  await page.locator('.flame').waitFor();
  equal(await axe(page), [], 'accessibility');
});

test('trace: two captures under each other, aligned, with the difference by name', async ({page, open}) => {
  await trace(open, page, {session: BOUND, second: FIXED, align: 'step'});
  await eventually(() => page.locator('.stage').count(), 2, 'panes');
  await eventually(
    async () => (await page.locator('.labels .steps').allInnerTexts()).join(),
    `${BOUND},${FIXED}`,
    'titles',
  );
  await page.getByRole('radio', {name: 'Totals'}).click();
  const row = page.locator('.drawer tbody tr', {hasText: 'train'}).first();
  await row.waitFor();
  const [a, b] = await Promise.all(
    [BOUND, FIXED].map(session => api(logdir(), `trace/stats?session=${q(session)}&host=0`, {})),
  );
  await passes(async () => {
    // the first answers before the second
    const heads = await page.locator('.drawer thead th').allInnerTexts();
    check(heads.includes('Δ') && heads.includes('Second'), `columns ${heads}`);
    const titles = await row.locator('td').evaluateAll(nodes => nodes.map(node => node.getAttribute('title')));
    equal(titles[2], `${a.rows.find(one => one.name === 'train').total} ps`, 'of the first');
    equal(titles[3], `${b.rows.find(one => one.name === 'train').total} ps`, 'of the second');
  });
  equal(await axe(page), [], 'accessibility');
});

test('trace: tracks fold, hide, pin and move; the link keeps them', async ({page, open}) => {
  await trace(open, page, {session: BOUND});
  const names = () =>
    page.locator('.labels .lane:not(.header) .name').evaluateAll(nodes => nodes.map(node => node.title));
  const before = await names();
  const lane = page.locator('.labels .lane:not(.header)').nth(1);
  await lane.hover();
  await lane.getByRole('button', {name: /Move up/}).click();
  await eventually(async () => (await names())[0], before[1], 'moved up');
  await page.locator('.labels .lane:not(.header)').nth(1).hover();
  await page.locator('.labels .lane:not(.header)').nth(1).getByRole('button', {name: 'Hide track'}).click();
  await eventually(async () => (await names()).includes(before[0]), false, 'hidden');
  await page.getByRole('button', {name: 'Show 1 hidden'}).click();
  await eventually(async () => (await names()).length, before.length, 'all again');
  await page.locator('.labels .lane.header .name').first().click();
  await eventually(async () => (await names()).length < before.length, true, 'folded');
  await eventually(async () => (stateOf(page).order ?? []).length > 0, true, 'the order is in the link');
});

test('trace: the part in view is downloaded as Chrome trace JSON', async ({page, open}) => {
  await trace(open, page, {
    session: FIXED,
    t0: 4_000_000_000,
    t1: 6_000_000_000,
  });
  const waiting = page.waitForEvent('download');
  await page.getByRole('button', {name: 'More', exact: true}).last().click();
  await page.getByRole('menuitem', {name: /Download the part/}).click();
  const text = readFileSync(await (await waiting).path(), 'utf8');
  const events = JSON.parse(text).traceEvents.filter(event => event.ph === 'X');
  check(
    events.length > 10 && events.every(event => event.ts <= 6000.001 && event.ts + event.dur >= 3999.999),
    'only events of the range',
  );
});

test('trace: a dropped file opens', async ({page, open}) => {
  await open(logdir(), hash({session: BOUND, tool: 'overview_page'}));
  await page.locator('.figures').first().waitFor();
  const data = JSON.stringify({
    traceEvents: [{ph: 'X', name: 'dropped slice', pid: 1, tid: 1, ts: 0, dur: 50}],
  });
  const transfer = await page.evaluateHandle(text => {
    const all = new DataTransfer();
    all.items.add(new File([text], 'mine.json', {type: 'application/json'}));
    return all;
  }, data);
  await page.locator('.profile').dispatchEvent('drop', {dataTransfer: transfer});
  await page.locator('.stage[data-ready]').waitFor();
  await eventually(async () => stateOf(page).session, 'dropped/mine.json', 'session');
});

test('profile: a table filters, sorts, hides columns and saves what is shown', async ({page, open}) => {
  await open(logdir(), hash({session: BOUND, tool: 'framework_op_stats'}));
  const wanted = await report(logdir(), BOUND, 'framework_op_stats');
  const table = wanted.tables.find(one => one.id === 'without_idle');
  const view = page.locator('[data-table=without_idle]');
  await view.waitFor();
  await eventually(async () => plain(await view.locator('.head .dim').innerText()), `${table.total} rows`, 'count');
  await view.getByRole('textbox', {name: 'Filter rows'}).fill('dense');
  const kept = table.rows.filter(row =>
    row.some(cell =>
      String(cell ?? '')
        .toLowerCase()
        .includes('dense'),
    ),
  );
  await eventually(
    async () => plain(await view.locator('.head .dim').innerText()),
    `${kept.length} of ${table.total} rows`,
    'filtered',
  );
  await view.getByRole('button', {name: /^Occurrences/}).click();
  await view.getByRole('button', {name: /^Occurrences/}).click();
  const most = Math.max(...kept.map(row => row[column(table, 'occurrences')]));
  const heads = await view.locator('thead th').allInnerTexts();
  const at = heads.findIndex(head => head.startsWith('Occurrences'));
  await eventually(
    async () => plain(await view.locator('tbody tr').first().locator('td').nth(at).innerText()),
    String(most),
    'sorted',
  );
  const waiting = page.waitForEvent('download');
  await view.getByRole('button', {name: 'Download as CSV'}).click();
  await page.getByRole('menuitem', {name: /rows shown/}).click();
  equal(
    readFileSync(await (await waiting).path(), 'utf8')
      .trim()
      .split('\r\n').length,
    kept.length + 1,
    'rows of the CSV',
  );
  await page.getByRole('switch', {name: 'Include idle time'}).click({force: true});
  await page.locator('[data-table=with_idle]').waitFor();
});

test('profile: tools without data say why', async ({page, open}) => {
  await open(logdir(), hash({session: BOUND, tool: 'kernel_stats'}));
  await page.getByText('no GPU in this capture').first().waitFor();
  equal(await axe(page), [], 'accessibility');
});

test('profile: from a captured step on the curve to the trace and back', async ({page, open}) => {
  await open(logdir(), '#timeseries');
  const marks = page.locator('.capture');
  await eventually(async () => (await marks.count()) >= 8, true, 'marks of steps 0 to 7');
  const {steps} = await api(logdir(), `trace/steps?session=${q(FIXED)}&host=0`);
  await settled(page); // the marks of both captures
  await marks.nth(3).click();
  await page.locator('.stage[data-ready]').first().waitFor();
  const state = await eventually(
    async () => stateOf(page).t0 != null && stateOf(page).tool === 'trace_viewer',
    true,
    'the trace viewer',
  ).then(() => stateOf(page));
  const found = (await api(logdir(), `trace/steps?session=${q(state.session)}&host=0`)).steps[3];
  check(
    state.t0 <= Number(found.begin) &&
      state.t1 >= Number(found.end) &&
      state.t1 - state.t0 < 1.3 * (Number(found.end) - Number(found.begin)),
    'the window is the step',
  );
  check(steps.length === 8, 'eight steps');
  await page.getByRole('button', {name: 'Metrics at this time'}).click();
  await page.locator('.capture').first().waitFor();
  await page.waitForURL(/#timeseries/);
});

const PAGES = [
  'overview_page',
  'input_pipeline_analyzer',
  'tf_data_bottleneck_analysis',
  'framework_op_stats',
  'memory_profile',
  'pod_viewer',
  'xspace_digest',
  'trace_viewer',
];
for (const dark of [false, true]) {
  test(
    `profile: every page of the own capture, ${dark ? 'dark' : 'light'}, accessible`,
    async ({page, open}) => {
      for (const tool of PAGES) {
        await open(logdir(), hash({session: BOUND, tool, baseline: dark ? FIXED : ''}));
        await page.locator('.card, .stage[data-ready]').first().waitFor();
        await settled(page);
        equal(await axe(page), [], `accessibility of ${tool}`);
      }
    },
    {dark},
  );
}

test('profile: every page of recorded captures of GPUs, XLA and several hosts opens', async ({page, open}) => {
  const logs = recorded();
  for (const [session, tools] of [
    ['tf_gpu_rtx5000_bs512/s', ['kernel_stats', 'memory_profile', 'roofline_model', 'overview_page']],
    ['jax_mi300_attention/s', ['op_profile', 'hlo_stats', 'roofline_model', 'memory_viewer', 'graph_viewer']],
    ['tf_multihost_2/s', ['pod_viewer']],
    ['tf_mem_bfc/s', ['memory_profile']],
  ]) {
    for (const tool of tools) {
      await open(logs, hash({session, tool}));
      await page.locator('.scroll .card').first().waitFor();
      await settled(page);
      equal(await axe(page), [], `accessibility of ${tool} of ${session}`);
    }
  }
});

/** A compiled program on a CPU, and another for a baseline. */
let compiled;
function xla() {
  if (compiled !== undefined) return compiled;
  compiled = temporary();
  for (const [name, file] of [
    ['mlp', 'jax_cpu_mlp'],
    ['two', 'jax_cpu_2dev'],
  ]) {
    const folder = join(compiled, 'plugins/profile', name);
    mkdirSync(folder, {recursive: true});
    writeFileSync(
      join(folder, 'vm.xplane.pb'),
      gunzipSync(readFileSync(join(ROOT, 'tests/data/profile', `${file}.xplane.pb.gz`))),
    );
  }
  return compiled;
}

test('profile: the HLO graph draws what its text says, inside the page', async ({page, open}) => {
  await open(xla(), hash({session: 'mlp', tool: 'graph_viewer'}));
  const {text} = await report(xla(), 'mlp', 'graph_viewer');
  const lines = text.slice(text.indexOf('ENTRY')).split('\n}')[0].split('\n').slice(1);
  const uses = lines
    .map(line => /^\s*(?:ROOT )?%?([\w.-]+) = .+? ([\w-]+)\((.*)$/.exec(line))
    .filter(one => one !== null);
  const constants = uses.filter(([, , op]) => op === 'constant').map(([, name]) => name);
  const plumbing = uses.filter(([, , op]) => op === 'get-tuple-element' || op === 'bitcast').map(([, name]) => name);
  const graph = page.locator('.boxes');
  await graph.locator('g[role=button]').first().waitFor();
  await eventually(
    () => graph.locator('g[role=button]').count(),
    uses.length - constants.length - plumbing.length,
    'boxes',
  );
  await eventually(
    async () => (await graph.locator('path').count()) >= uses.length - constants.length - plumbing.length - 5,
    true,
    'wires',
  );
  await graph.locator('g[role=button]', {hasText: 'constant'}).first().waitFor({state: 'attached'});
  await eventually(
    async () =>
      (await graph
        .locator('svg')
        .first()
        .evaluate(svg => svg.clientWidth)) <
      2.5 * (await graph.evaluate(box => box.clientWidth)),
    true,
    'no sprawl',
  );
  await page.getByRole('switch', {name: 'Fold constants and tuple elements'}).click({force: true});
  await eventually(async () => graph.locator('g[role=button]').count(), uses.length, 'every instruction');
  await page.getByRole('textbox', {name: 'Find an instruction'}).fill(constants[0]);
  await graph.locator('g.chosen').waitFor();
  await graph.locator('path.out').first().waitFor({state: 'attached'});
  equal(await axe(page), [], 'accessibility');
});

test('profile: pages of a compiled program against a baseline', async ({page, open}) => {
  for (const tool of ['op_profile', 'memory_viewer', 'hlo_stats', 'roofline_model']) {
    await open(xla(), hash({session: 'mlp', tool, baseline: 'two'}));
    await page.locator('.scroll .card').first().waitFor();
    await settled(page);
    await eventually(
      async () =>
        (await page.locator('.delta').count()) > 0 || /[+−×±][\d.]+/.test(await page.locator('.scroll').innerText()),
      true,
      `${tool}: changes`,
    );
    equal(await axe(page), [], `accessibility of ${tool}`);
  }
  const [now, was] = await Promise.all(['mlp', 'two'].map(session => report(xla(), session, 'memory_viewer')));
  await open(xla(), hash({session: 'mlp', tool: 'memory_viewer', baseline: 'two'}));
  const [a, b] = [now, was].map(one => one.document.peakUnpaddedHeapMib);
  await eventually(
    async () =>
      plain(await page.locator('.figures div').nth(1).innerText())
        .replaceAll('−', '-')
        .includes(`${a < b ? '-' : '+'}${Math.abs((a / b - 1) * 100).toFixed(1)} %`),
    true,
    'peak without padding',
  );
});

test('trace: from a kernel to its launch and its operator', async ({page, open}) => {
  const logs = recorded();
  const session = 'tf_gpu_rtx5000_bs512/s';
  const hits = await api(logs, `trace/search?session=${q(session)}&host=0`, {
    q: 'wgrad_alg1',
    limit: 20,
    px: 0,
  });
  const details = await Promise.all(
    hits.hits.map(hit => api(logs, `trace/slice?session=${q(session)}&host=0&id=${hit.slice}`)),
  );
  const kernel = details.find(one => one.flows.some(flow => flow.direction === 'from'));
  await trace(
    open,
    page,
    {
      session,
      slice: kernel.slice,
      t0: Number(kernel.begin) - 3e9,
      t1: Number(kernel.begin) + 3e9,
    },
    logs,
  );
  const from = kernel.flows.find(flow => flow.direction === 'from');
  await page.locator('.drawer dt', {hasText: 'Comes from'}).first().waitFor();
  await page.locator('.drawer dt', {hasText: 'Operator'}).waitFor();
  await page.locator('.stage').first().focus();
  await page.keyboard.press('[');
  await eventually(async () => stateOf(page).slice, from.slice, 'the launch');
  await settled(page); // where it goes to is known
  await page.keyboard.press(']');
  await eventually(async () => stateOf(page).slice, kernel.slice, 'and back to the kernel');
});

test('profile: the kernel table has the numbers of the server', async ({page, open}) => {
  const logs = recorded();
  await open(logs, hash({session: 'tf_gpu_rtx5000_bs512/s', tool: 'kernel_stats'}));
  const table = (await report(logs, 'tf_gpu_rtx5000_bs512/s', 'kernel_stats')).tables.find(one => one.id === 'kernels');
  const row = page.locator('[data-table=kernels] tbody tr').first();
  await row.waitFor();
  const first = ['kernel_name', 'op_name', 'occurrences', 'total_duration_us', 'avg_duration_us'];
  await eventually(
    () => row.locator('td').evaluateAll(nodes => nodes.slice(0, 5).map(node => node.title)),
    first.map(id => String(table.rows[0][table.columns.findIndex(one => one.id === id)])),
    'the first kernel',
  );
});

for (const dark of [false, true]) {
  test(
    `profile: buffers alive at the peak have bars as long as they are large, ${dark ? 'dark' : 'light'}`,
    async ({page, open}) => {
      const logs = recorded();
      await open(logs, hash({session: 'jax_mi300_attention/s', tool: 'memory_viewer'}));
      const list = region(page, 'Buffers alive at the peak').locator('li');
      await list.first().waitFor();
      const measured = () =>
        list.locator('.length').evaluateAll(nodes =>
          nodes.map(node => ({
            width: node.clientWidth,
            parts: [...node.children]
              .map(part => part.getBoundingClientRect())
              .map(({width, height}) => ({width, height})),
          })),
        );
      const sizes = (await report(logs, 'jax_mi300_attention/s', 'memory_viewer')).document.maxHeap
        .map(one => one.logicalBufferSizeMib)
        .sort((a, b) => b - a);
      await passes(async () => {
        const bars = await measured();
        equal(bars.length, sizes.length, 'a bar for every buffer');
        bars.forEach(({width, parts}, i) => {
          check(parts[0].height > 5, `the bar is ${parts[0].height} px high`);
          const share = parts.reduce((sum, part) => sum + part.width, 0) / width;
          check(
            Math.abs(share - sizes[i] / sizes[0]) < 0.02,
            `bar ${i} takes ${share} for ${sizes[i]} of ${sizes[0]} MiB`,
          );
        });
      });
    },
    {dark},
  );
}

test('profile: with a baseline, steps show their change and rows of the baseline alone are marked', async ({
  page,
  open,
}) => {
  const both = await report(logdir(), FIXED, 'input_pipeline_analyzer', `&baseline=${q(BOUND)}`);
  const steps = both.tables.find(one => one.id === 'step_times');
  const time = column(steps, 'stepTimeMs');
  check(
    steps.rows.length > 0 && steps.rows.every(row => row[time][0] > 0 && row[time][1] > row[time][0]),
    'every step has its step of the slower capture',
  );
  const ops = (await report(logdir(), FIXED, 'framework_op_stats', `&baseline=${q(BOUND)}`)).tables.find(
    one => one.id === 'without_idle',
  );
  check(ops.gone?.length > 0, 'the baseline has operations of its own');
  await open(logdir(), hash({session: FIXED, tool: 'framework_op_stats', baseline: BOUND}));
  const table = page.locator(`[data-table=${ops.id}]`);
  await table.getByText(`${ops.gone.length} only in the baseline`).waitFor();
  const name = String(ops.gone[0][column(ops, 'operation')]);
  const filter = table.getByRole('textbox', {name: 'Filter rows'});
  if ((await filter.count()) > 0) await filter.fill(name);
  const row = table
    .locator('tbody tr', {has: page.locator('.tag', {hasText: 'gone'})})
    .filter({has: page.locator(`td[title=${JSON.stringify(name)}]`)})
    .first(); // long names are cut in the middle
  await row.waitFor();
  await eventually(async () => (await row.locator('s').count()) > 3, true, 'its values are struck out');
  equal(await axe(page), [], 'accessibility');
});
