// The trace viewer's choices and questions: what is chosen, what is drawn and how, what the drawer adds up. Numbers on
// screen are those of the API; pictures are judged by the pixels of the lanes.
import {mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {gunzipSync} from 'node:zlib';
import {api, hash, plain, q, stateOf} from './captures.mjs';
import {axe, check, equal, eventually, passes, ROOT, settled, temporary, test} from './harness.mjs';

const TF = 'train/bound';
const XLA = 'xla/s';
const MADE = 'made/s';

// Two processes, categories, arguments, two kinds of arrows, a counter, something wrong and something said.
const EVENTS = [
  {ph: 'M', name: 'process_name', pid: 1, args: {name: 'trainer'}},
  {ph: 'M', name: 'thread_name', pid: 1, tid: 1, args: {name: 'main'}},
  {ph: 'M', name: 'thread_name', pid: 1, tid: 2, args: {name: 'loader'}},
  {ph: 'M', name: 'process_name', pid: 2, args: {name: 'device'}},
  {ph: 'M', name: 'thread_name', pid: 2, tid: 7, args: {name: 'stream 7'}},
  {ph: 'X', name: 'step', cat: 'user', pid: 1, tid: 1, ts: 0, dur: 1000},
  {
    ph: 'X',
    name: 'forward',
    cat: 'op',
    pid: 1,
    tid: 1,
    ts: 100,
    dur: 300,
    args: {phase: 'a'},
  },
  {
    ph: 'X',
    name: 'matmul',
    cat: 'op',
    pid: 1,
    tid: 1,
    ts: 150,
    dur: 100,
    args: {phase: 'a'},
  },
  {
    ph: 'X',
    name: 'backward',
    cat: 'op',
    pid: 1,
    tid: 1,
    ts: 500,
    dur: 400,
    args: {phase: 'b'},
  },
  {
    ph: 'X',
    name: 'matmul',
    cat: 'op',
    pid: 1,
    tid: 1,
    ts: 550,
    dur: 200,
    args: {phase: 'b', source: '/src/model.py:42'},
  },
  {ph: 'X', name: 'read', cat: 'io', pid: 1, tid: 2, ts: 50, dur: 400},
  {ph: 'X', name: 'kernel', cat: 'gpu', pid: 2, tid: 7, ts: 200, dur: 150},
  {ph: 'X', name: 'kernel', cat: 'gpu', pid: 2, tid: 7, ts: 600, dur: 250},
  {ph: 's', name: 'launch', cat: 'launch', id: 1, pid: 1, tid: 1, ts: 160},
  {
    ph: 'f',
    bp: 'e',
    name: 'launch',
    cat: 'launch',
    id: 1,
    pid: 2,
    tid: 7,
    ts: 210,
  },
  {ph: 's', name: 'feed', cat: 'feed', id: 2, pid: 1, tid: 2, ts: 60},
  {
    ph: 'f',
    bp: 'e',
    name: 'feed',
    cat: 'feed',
    id: 2,
    pid: 1,
    tid: 1,
    ts: 120,
  },
  {ph: 'C', name: 'memory', pid: 1, ts: 0, args: {used: 10}},
  {ph: 'C', name: 'memory', pid: 1, ts: 500, args: {used: 30}},
  {ph: 'X', name: 'no time', pid: 1, tid: 1, dur: 5},
];

let own;
function logdir() {
  if (own !== undefined) return own;
  own = temporary();
  for (const [run, session, file] of [
    ['train', 'bound', 'tf_loop_input_bound'],
    ['xla', 's', 'jax_cpu_mlp'],
  ]) {
    const folder = join(own, run, 'plugins/profile', session);
    mkdirSync(folder, {recursive: true});
    writeFileSync(
      join(folder, 'vm.xplane.pb'),
      gunzipSync(readFileSync(join(ROOT, 'tests/data/profile', `${file}.xplane.pb.gz`))),
    );
  }
  mkdirSync(join(own, 'made/plugins/profile/s'), {recursive: true});
  writeFileSync(
    join(own, 'made/plugins/profile/s/host.trace.json'),
    JSON.stringify({traceEvents: EVENTS, team: 'blue'}),
  );
  return own;
}
const US = 1e6; // ps
const ask = (path, body, session = MADE) => api(logdir(), `trace/${path}?session=${q(session)}&host=0`, body);

async function opened(open, page, view) {
  await open(logdir(), hash({tool: 'trace_viewer', session: MADE, ...view}));
  await page.locator('.stage[data-ready]').first().waitFor();
  await settled(page);
}
/** Where a time lies on the canvas; the view must be in the link. */
async function placer(page) {
  await eventually(async () => typeof stateOf(page).t1, 'number', 'the place is in the link');
  const {t0, t1} = stateOf(page);
  const box = await page.locator('.stage canvas').first().boundingBox();
  const lane = async name =>
    (
      await page
        .locator('.labels .lane', {
          has: page.locator(`.name[title="${name}"]`),
        })
        .first()
        .boundingBox()
    ).y + 10;
  return {
    x: us => box.x + ((us * US - t0) / (t1 - t0)) * box.width,
    lane,
    timeAt: x => t0 + ((x - box.x) / box.width) * (t1 - t0),
  };
}
async function drag(page, from, to, key) {
  if (key) await page.keyboard.down(key);
  await page.mouse.move(from[0], from[1]);
  await page.mouse.down();
  await page.mouse.move((from[0] + to[0]) / 2, (from[1] + to[1]) / 2);
  await page.mouse.move(to[0], to[1]);
  await page.mouse.up();
  if (key) await page.keyboard.up(key);
}
const plates = async page => (await page.locator('.axis .ticks b').allInnerTexts()).map(plain);
const more = async (page, name) => {
  await page.locator('.tools').getByRole('button', {name: 'More', exact: true}).click();
  await page
    .getByRole('menuitem', {name, exact: true})
    .or(page.getByRole('menuitemcheckbox', {name, exact: true}))
    .click();
};
const choose = async (page, select, option) => {
  await page.getByRole('button', {name: select}).click();
  await page.getByRole('option', {name: option, exact: true}).click();
};
/** The colours of some pixels of the lanes. */
const pixels = (page, points) =>
  page.evaluate(list => {
    const canvas = document.querySelector('.stage canvas');
    const box = canvas.getBoundingClientRect();
    const ratio = canvas.width / box.width;
    const g = canvas.getContext('2d');
    return list.map(([x, y]) =>
      [...g.getImageData(Math.round((x - box.left) * ratio), Math.round((y - box.top) * ratio), 1, 1).data]
        .slice(0, 3)
        .join(),
    );
  }, points);

test('trace: Ctrl adds areas and slices, their times add up once, ends are handles', async ({page, open}) => {
  await opened(open, page);
  const {x, lane} = await placer(page);
  const y = await lane('main');
  await drag(page, [x(100), y + 120], [x(300), y + 120]);
  await drag(page, [x(200), y + 120], [x(400), y + 120], 'Control');
  await eventually(async () => (await plates(page)).length, 2, 'two plates');
  const words = page.locator('.drawer .top .dim');
  await eventually(async () => /in 2 areas/.test(await words.innerText()), true, 'two areas');
  const row = page.locator('.drawer tbody tr', {hasText: 'step'});
  const total = async () => Number((await row.locator('td').nth(2).getAttribute('title')).replace(' ps', ''));
  await eventually(async () => Math.abs((await total()) - 300 * US) < 6 * US, true, '100 to 400 counts once');
  // A slice clicked with Ctrl is a third area, on its own track.
  await page.keyboard.down('Control');
  await page.mouse.click(x(700), await lane('stream 7'));
  await page.keyboard.up('Control');
  await eventually(async () => (await plates(page)).includes('250 µs'), true, 'the slice');
  // Without Ctrl a new area stands alone; its right end is dragged further.
  await drag(page, [x(100), y + 120], [x(300), y + 120]);
  await eventually(async () => (await plates(page)).length, 1, 'one plate');
  await drag(page, [x(300), y + 120], [x(480), y + 120]);
  await eventually(async () => Math.abs((await total()) - 380 * US) < 6 * US, true, 'the handle');
  // Tracks are taken out of the area by their boxes.
  await page.getByRole('checkbox', {name: 'main in the selection'}).uncheck({force: true});
  await eventually(
    async () => (await page.locator('.drawer tbody tr td:first-child').allInnerTexts()).map(plain).sort(),
    ['kernel', 'read'],
    'without main',
  );
});

test('trace: measuring snaps to slices, keeps several, takes a slice by double click', async ({page, open}) => {
  await opened(open, page);
  const {x, lane} = await placer(page);
  const y = await lane('stream 7');
  await page.getByRole('radio', {name: 'Measure'}).click();
  await drag(page, [x(200) + 3, y], [x(850) - 3, y]);
  await eventually(async () => plates(page), ['650 µs'], 'edge to edge');
  await page.mouse.dblclick(x(700), y);
  await eventually(async () => plates(page), ['250 µs'], 'the slice');
  await drag(page, [x(200) + 3, y], [x(350) - 3, y], 'Control');
  await eventually(async () => (await plates(page)).sort(), ['150 µs', '250 µs'], 'two intervals');
});

test('trace: arrows of one kind, search in a scope', async ({page, open}) => {
  await opened(open, page);
  await eventually(async () => (await ask('about')).kinds.map(([kind]) => kind).sort(), ['feed', 'launch'], 'kinds');
  await page.getByRole('button', {name: /^Arrows/}).click();
  await eventually(
    async () => (await page.getByRole('option').allInnerTexts()).map(text => text.split('\n')[0].trim()).sort(),
    ['all', 'feed', 'launch', 'none', 'selection'],
    'choices',
  );
  const asked = page.waitForRequest(request => /trace\/flows/.test(request.url()));
  await page.getByRole('option', {name: /^launch/}).click();
  equal(JSON.parse((await asked).postData()).kind, 'launch', 'the kind is asked for');
  equal((await ask('flows', {kind: 'launch'})).total, 1, 'one launch');
  await eventually(async () => stateOf(page).arrows, 'kind:launch', 'in the link');
  // Search: everywhere, then only on the tracks that are shown, then in the time in view.
  const field = page.getByRole('textbox', {name: 'Search slices'});
  const count = async () => plain(await page.locator('.find').innerText());
  await field.fill('kernel');
  await field.press('Enter');
  await eventually(count, '1 of 2', 'everywhere');
  await page.getByRole('textbox', {name: 'Filter tracks'}).fill('main');
  await choose(page, /^In everything/, 'shown tracks');
  await eventually(count, 'no hit', 'not on main');
  await page.getByRole('textbox', {name: 'Filter tracks'}).fill('');
  await page.locator('.stage').first().focus();
  await page.keyboard.press('Escape');
  await opened(open, page, {t0: 100 * US, t1: 400 * US, find: 'kernel'});
  await choose(page, /^In everything/, 'the time in view');
  await eventually(count, '1 of 1', 'one in view');
});

test('trace: the filter hides processes and categories, the link keeps it', async ({page, open}) => {
  await opened(open, page);
  const {x, lane} = await placer(page);
  const at = [x(300), (await lane('main')) + 17];
  await eventually(
    async () => (await pixels(page, [at, [x(450), at[1]]])).every((pixel, _, all) => pixel === all[0]),
    false,
    'forward is drawn',
  );
  const [drawn] = await pixels(page, [at]);
  await page.getByRole('button', {name: 'Filter tracks and categories'}).click();
  const dialog = page.getByRole('dialog');
  await eventually(async () => (await dialog.getByRole('checkbox').count()) >= 8, true, 'tracks and categories');
  equal(await axe(page), [], 'accessibility');
  await dialog.getByRole('checkbox', {name: 'op', exact: true}).uncheck({force: true});
  await dialog.getByRole('checkbox', {name: 'device', exact: true}).uncheck({force: true});
  await page.keyboard.press('Escape');
  await eventually(async () => (await pixels(page, [at]))[0] !== drawn, true, 'forward is not drawn');
  await eventually(() => page.locator('.labels .name[title="stream 7"]').count(), 0, 'the device is hidden');
  await eventually(async () => [stateOf(page).without, (stateOf(page).hide ?? []).length], [['op'], 1], 'in the link');
  await page.reload();
  await page.locator('.stage[data-ready]').first().waitFor();
  await page.locator('.labels .name[title="main"]').waitFor();
  await settled(page);
  equal(await page.locator('.labels .name[title="stream 7"]').count(), 0, 'after a reload');
});

test('trace: about says what was wrong, what the file says, what is in it', async ({page, open}) => {
  await opened(open, page);
  const wanted = await ask('about');
  check(wanted.diagnostics.length > 0 && wanted.metadata.length > 0, `nothing to show: ${JSON.stringify(wanted)}`);
  await more(page, 'About this trace');
  const dialog = page.getByRole('dialog');
  for (const one of wanted.diagnostics) await dialog.getByText(one.text).first().waitFor();
  await passes(async () => {
    const text = await dialog.innerText();
    for (const [key, value] of wanted.metadata) check(text.includes(key) && text.includes(value), `metadata ${key}`);
    const facts = plain(text)
      .split('\n')
      .map(line => line.trim());
    for (const [name] of [...wanted.categories, ...wanted.arguments]) check(facts.includes(name), `${name} is listed`);
  });
  equal(await axe(page), [], 'accessibility');
});

test('trace: the axis counts from the start, a step, the wall clock or a zero; the pointer has its time', async ({
  page,
  open,
}) => {
  await opened(open, page, {session: TF});
  const corner = page.locator('.axis .clock');
  const first = async () => plain((await page.locator('.axis .ticks span:not(.cursor)').allInnerTexts())[1] ?? '');
  const pick = async name => {
    await corner.click();
    await page.getByRole('menuitemcheckbox', {name}).click();
  };
  await eventually(async () => /^\d/.test(await first()), true, 'from the start');
  await pick('from the step in view');
  await eventually(async () => /^[+-]/.test(await first()), true, 'signed');
  await eventually(async () => /^from step/.test(plain(await corner.innerText())), true, 'which step');
  await pick('wall clock (UTC)');
  const info = await api(logdir(), `trace/tracks?session=${q(TF)}&host=0`);
  const start = new Date(Number(BigInt(info.start_ns) / 1000000n));
  await eventually(async () => (await first()).slice(0, 5), start.toISOString().slice(11, 16), 'hours and minutes');
  await eventually(async () => plain(await corner.innerText()), `UTC ${start.toISOString().slice(0, 10)}`, 'the day');
  // The zero is set where the selection begins.
  const {timeAt} = await placer(page);
  const box = await page.locator('.stage canvas').first().boundingBox();
  await drag(page, [box.x + 300, box.y + 60], [box.x + 500, box.y + 60]);
  await corner.click();
  await page.getByRole('menuitem', {name: 'Set the zero at the selection'}).click();
  await eventually(
    async () => Math.abs(stateOf(page).zero - timeAt(box.x + 300)) < timeAt(box.x + 3) - timeAt(box.x),
    true,
    'zero in the link',
  );
  await eventually(
    async () => {
      await page.mouse.move(box.x + 300, box.y + 90);
      return (
        (await page.locator('.axis .cursor').count()) === 1 &&
        /^[+-]0\.?\d*/.test(plain(await page.locator('.axis .cursor').innerText()))
      );
    },
    true,
    'time at the pointer',
  );
});

test('trace: tracks are filtered, found by Ctrl P, folded all at once; processes keep their name in view', async ({
  page,
  open,
}) => {
  await opened(open, page);
  const names = () => page.locator('.labels .lane .name').evaluateAll(nodes => nodes.map(node => node.title));
  await page.getByRole('textbox', {name: 'Filter tracks'}).fill('stream');
  await eventually(names, ['device', 'stream 7'], 'filtered');
  await page.getByRole('textbox', {name: 'Filter tracks'}).fill('');
  await more(page, 'Collapse all processes');
  await eventually(names, ['trainer', 'device'], 'folded');
  await page.locator('.stage').first().focus();
  await page.keyboard.press('Control+p');
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox').fill('ldr');
  await eventually(
    async () =>
      (await dialog.getByRole('option').allInnerTexts()).length > 0 &&
      plain(await dialog.getByRole('option').first().innerText()).startsWith('loader'),
    true,
    'found by letters',
  );
  equal(await axe(page), [], 'accessibility');
  await page.keyboard.press('Enter');
  await eventually(async () => (await names()).includes('loader'), true, 'its process is open');
  await more(page, 'Expand all processes');
  await eventually(async () => (await names()).length, 6, 'unfolded');
  // A long process scrolled away still says its name.
  await opened(open, page, {session: TF});
  const box = await page.locator('.stage canvas').first().boundingBox();
  await page.mouse.move(box.x + 200, box.y + 100);
  for (let i = 0; i < 6; i++) await page.mouse.wheel(0, 120);
  await eventually(async () => (await page.locator('.labels .sticky').count()) === 1, true, 'the process above');
});

test('trace: totals by track, process, category and argument are those of the server', async ({page, open}) => {
  await opened(open, page);
  await page.getByRole('radio', {name: 'Totals'}).click();
  for (const [by, option, name] of [
    ['track', 'track', /^By name/],
    ['process', 'process', /^By track/],
    ['category', 'category', /^By process/],
    ['argument:phase', 'phase', /^By category/],
  ]) {
    await choose(page, name, option);
    const wanted = await ask('stats', {by});
    const rows = page.locator('.drawer tbody tr');
    await eventually(
      async () => (await rows.locator('td:first-child').allInnerTexts()).map(plain),
      wanted.rows.map(row => (row.name === '' ? '(none)' : row.name)),
      `rows by ${by}`,
    );
    await eventually(
      () => rows.first().locator('td').nth(2).getAttribute('title'),
      `${wanted.rows[0].total} ps`,
      `total by ${by}`,
    );
  }
  await page.getByRole('radio', {name: 'Counters'}).click();
  const [counter] = (await ask('counter_stats', {})).rows;
  const cells = page.locator('.drawer tbody tr').first().locator('td');
  await eventually(() => cells.count(), 9, 'counters');
  await eventually(
    () =>
      cells
        .evaluateAll(nodes => nodes.slice(1).map(node => Number(node.title)))
        .then(all => [all[0], all[1], all[2], all[5]]),
    [counter.points, counter.min, counter.max, counter.last - counter.first],
    'of the counter',
  );
  equal(await axe(page), [], 'accessibility');
});

test('trace: call stacks from the bottom, from a pivot, without frames', async ({page, open}) => {
  await opened(open, page);
  const asked = async act => {
    const request = page.waitForRequest(one => /trace\/flame/.test(one.url()));
    await act();
    const body = JSON.parse((await request).postData());
    return ask('flame', body);
  };
  const plot = page.locator('.flame').getByRole('img');
  const press = async (share, row) => {
    await settled(page);
    const box = await plot.boundingBox();
    await page.mouse.move(box.x + share * box.width, box.y + row * 17 + 8);
    await page.mouse.click(box.x + share * box.width, box.y + row * 17 + 8);
  };
  await asked(() => page.getByRole('radio', {name: 'Call stacks'}).click());
  const up = await asked(() => page.getByRole('radio', {name: 'From the bottom'}).click());
  const matmul = up.nodes.find(node => node.name === 'matmul' && node.parent === 0);
  equal([matmul.total, matmul.count], [300 * US, 2], 'both matmuls, whoever called');
  check(
    up.nodes.some(node => node.name === 'backward' && up.nodes[node.parent]?.name === 'matmul'),
    'their callers below',
  );
  await asked(() => page.getByRole('radio', {name: 'From the top'}).click());
  await press(0.02, 1);
  await page
    .locator('.picked')
    .getByText(/^step ·/)
    .waitFor();
  const without = await asked(() => page.getByRole('button', {name: 'Remove the frame'}).click());
  check(
    !without.nodes.some(node => node.name === 'step') &&
      without.nodes.some(node => node.name === 'forward' && node.parent === 0),
    'step is left out',
  );
  await page.getByText('without step', {exact: true}).waitFor();
  await asked(() => page.getByRole('button', {name: 'Remove: without step'}).click());
  const kept = await asked(() => page.getByRole('textbox', {name: 'Only stacks with'}).fill('forward'));
  equal(kept.nodes[0].total, 300 * US, 'stacks through forward');
  equal(await axe(page), [], 'accessibility');
});

test('trace: colours by category, process, duration and argument; palettes; grid', async ({page, open}) => {
  await opened(open, page);
  const {x, lane} = await placer(page);
  const main = await lane('main');
  // Low in the row, where no name is written.
  const forward = [x(120), main + 23];
  const backward = [x(520), main + 23];
  const kernel = [x(700), (await lane('stream 7')) + 5];
  const seen = async () => pixels(page, [forward, backward, kernel]);
  await eventually(
    async () => (await pixels(page, [forward, [x(450), forward[1]]])).every((pixel, _, all) => pixel === all[0]),
    false,
    'forward is drawn',
  );
  const [a] = await seen();
  await choose(page, /^Colour/, 'category');
  await eventually(
    async () => {
      const [f, b, k] = await seen();
      return f === b && f !== k;
    },
    true,
    'by category',
  );
  await choose(page, /^Colour/, 'process');
  await eventually(
    async () => {
      const [f, b, k] = await seen();
      return f === b && f !== k;
    },
    true,
    'by process',
  );
  await choose(page, /^Colour/, 'duration');
  await eventually(
    async () => {
      const [f, b, k] = await seen();
      return f === b && b === k;
    },
    true,
    'all of a hundred µs',
  );
  await page.getByRole('button', {name: /^Colour/}).click();
  await page.getByRole('option', {name: /^phase/}).click();
  await eventually(
    async () => {
      const [f, b] = await seen();
      return f !== b;
    },
    true,
    'by argument',
  );
  await eventually(async () => stateOf(page).colour, 'argument:phase', 'in the link');
  await choose(page, /^Colour/, 'name');
  await eventually(async () => (await seen())[0], a, 'by name again');
  await more(page, 'Colours for colour-blind eyes');
  await eventually(async () => (await seen())[0] !== a, true, 'other colours');
  await more(page, 'Standard colours');
  const gap = [Math.round((await placer(page)).x(1000)), await lane('stream 7')];
  const line = async () =>
    (
      await pixels(
        page,
        Array.from({length: 9}, (_, i) => [gap[0] - 4 + i, gap[1]]),
      )
    ).some((pixel, _, all) => pixel !== all[0]);
  await eventually(line, true, 'a grid line at 1 ms');
  await page.locator('.stage').first().focus();
  await page.keyboard.press('g');
  await eventually(line, false, 'G takes it away');
  await page.keyboard.press('g');
});

test('trace: notes with text and colour are listed, in the link, and go away', async ({page, open}) => {
  await opened(open, page);
  const {x, lane} = await placer(page);
  await page.mouse.click(x(700), await lane('stream 7'));
  await page.locator('.drawer .called').getByText('kernel').waitFor();
  await page.locator('.stage').first().focus();
  await page.keyboard.press('m');
  await eventually(async () => plates(page), ['250 µs'], 'M marks for the moment');
  await page.keyboard.press('Shift+M');
  await page.getByRole('radio', {name: /Notes 1/}).click();
  const text = page.getByRole('textbox', {name: 'Text of the note'});
  await eventually(() => text.inputValue(), 'kernel', 'named after the slice');
  await text.fill('slow one');
  await text.press('Enter');
  await page.getByRole('button', {name: 'Change the colour of the note'}).click();
  await eventually(
    async () => stateOf(page).notes,
    [{t0: 600 * US, t1: 850 * US, text: 'slow one', colour: 0}],
    'in the link',
  );
  await page.reload();
  await page.locator('.stage[data-ready]').first().waitFor();
  await page.getByRole('radio', {name: /Notes 1/}).click();
  await eventually(() => text.inputValue(), 'slow one', 'after a reload');
  await page.locator('.notes .link').focus();
  await page.keyboard.press('Delete');
  await eventually(async () => (stateOf(page).notes ?? []).length, 0, 'deleted');
});

test('trace: the palette knows the viewer; keys by their place', async ({page, open}) => {
  await opened(open, page);
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').fill('>collapse all');
  await page
    .getByRole('option', {name: /Collapse all processes/})
    .first()
    .click();
  await eventually(async () => (stateOf(page).fold ?? []).length, 2, 'folded by the palette');
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').fill('>colour duration');
  await page
    .getByRole('option', {name: /duration/})
    .first()
    .click();
  await eventually(async () => stateOf(page).colour, 'duration', 'coloured by the palette');
  // On a French keyboard the key of W writes z.
  await page.locator('.stage').first().focus();
  await page.keyboard.press('?');
  await page.getByRole('radio', {name: 'the positions (QWERTY)'}).click();
  await page.keyboard.press('Escape');
  await eventually(async () => typeof stateOf(page).t1, 'number', 'place');
  const before = stateOf(page);
  await page.locator('.stage').first().dispatchEvent('keydown', {key: 'z', code: 'KeyW'});
  await eventually(async () => stateOf(page).t1 - stateOf(page).t0 < (before.t1 - before.t0) * 0.9, true, 'zoomed in');
});

test('trace: the view is saved as a picture, a slice is copied with its source', async ({page, open}) => {
  await opened(open, page);
  const waiting = page.waitForEvent('download');
  await more(page, /as an image/);
  const file = readFileSync(await (await waiting).path());
  equal(file.subarray(1, 4).toString(), 'PNG', 'a PNG');
  check(file.readUInt32BE(16) > 900 && file.readUInt32BE(20) > 200 && file.length > 5000, 'of the view');
  const {x, lane} = await placer(page);
  await page.mouse.click(x(600), (await lane('main')) + 34);
  await page.locator('.drawer .called').getByText('matmul').waitFor();
  await page.getByRole('button', {name: 'Copy /src/model.py:42'}).click();
  const copied = () => page.evaluate(() => navigator.clipboard.readText());
  await eventually(copied, '/src/model.py:42', 'the place in the source');
  await page.getByRole('button', {name: 'Copy name, times and arguments'}).click();
  await passes(async () => {
    const text = await copied();
    check(text.startsWith('matmul\n') && text.includes(`${200 * US} ps`) && text.includes('phase\tb'), text);
  });
});

test('trace: a compiled operation links to its graph and its statistics', async ({page, open}) => {
  const hit = (await ask('search', {q: 'hlo_op=dot', limit: 1}, XLA)).hits[0];
  await opened(open, page, {
    session: XLA,
    slice: hit.slice,
    t0: Number(hit.begin) - 1e9,
    t1: Number(hit.begin) + 1e9,
  });
  await page.locator('.drawer').getByRole('button', {name: 'HLO statistics'}).waitFor();
  await eventually(
    () => page.locator('.drawer .links .link').allInnerTexts(),
    ['graph', 'roofline', 'HLO statistics'],
    'pages',
  );
  await page.locator('.drawer').getByRole('button', {name: 'graph', exact: true}).click();
  await eventually(
    async () => [stateOf(page).tool, stateOf(page).filter, /^jit_/.test(stateOf(page).ask?.module_name ?? '')],
    ['graph_viewer', hit.name, true],
    'the graph',
  );
  await page.getByText(hit.name, {exact: true}).first().waitFor();
});

for (const [name, options] of [
  ['light', {}],
  ['dark, 800 px', {dark: true, viewport: {width: 800, height: 600}}],
]) {
  test(
    `trace: the viewer is accessible, ${name}`,
    async ({page, open}) => {
      await opened(open, page);
      const {x, lane} = await placer(page);
      const y = await lane('main');
      await drag(page, [x(100), y + 4], [x(300), y + 4]);
      await page.locator('.drawer table').waitFor();
      equal(await axe(page), [], 'accessibility');
      await passes(async () => {
        const bar = await page.locator('.tools').last().boundingBox();
        const last = await page.locator('.tools').last().getByRole('button', {name: 'More', exact: true}).boundingBox();
        check(
          last.x + last.width <= bar.x + bar.width + 1 && last.y + last.height <= bar.y + bar.height + 1,
          'nothing is cut off',
        );
      });
    },
    options,
  );
}

test('trace: a link asks for its first cells once, before the page is there', async ({page, open}) => {
  const asked = [];
  page.on('request', request => {
    if (/trace\/(view|tracks|names|counters)/.test(request.url()))
      asked.push(
        `${/trace\/(\w+)/.exec(request.url())[1]} ${(JSON.parse(request.postData() ?? '{}').rows ?? []).map(row => (row.depth ? 'flat' : 'full'))[0] ?? ''}`.trim(),
      );
  });
  await opened(open, page);
  const wanted = ['counters full', 'names', 'tracks', 'view flat', 'view full'];
  await eventually(
    () => asked.toSorted(),
    wanted,
    'questions of the first picture: the cells, and the strip above them',
  );
  await settled(page);
  equal(asked.toSorted(), wanted, 'no more questions');
});
