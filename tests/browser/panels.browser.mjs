// Pages of panels and the reports saved from them: what is put together stays, and the file shows what the page showed.
import {statSync} from 'node:fs';
import {join} from 'node:path';
import {pathToFileURL} from 'node:url';
import {writeRun} from './events.mjs';
import {axe, check, equal, eventually, passes, settled, temporary, test} from './harness.mjs';
import {logdir, ready, tipRows} from './known.mjs';

const panel = (page, name) => page.locator(`[data-panel][aria-label="${name}"]`);
const chart = (page, name) => panel(page, name).locator('[data-chart=ready]');

/** What the tooltip of a panel says at a share of its width. */
async function tipAt(page, name, share) {
  let tip;
  await passes(async () => {
    const box = await chart(page, name).boundingBox();
    await page.mouse.move(2, 2);
    await page.mouse.move(box.x + box.width * share, box.y + box.height / 2);
    tip = await tipRows(page);
    check(tip.rows.length > 0, 'a tooltip');
  });
  return tip;
}

/** The tooltip of a panel at a step. */
async function tipOfStep(page, name, step) {
  let [low, high] = [0.1, 0.99]; // the axis is left of it
  for (let i = 0; i < 24; i++) {
    const middle = (low + high) / 2;
    const tip = await tipAt(page, name, middle);
    if (tip.step === step) return tip.rows.map((row, at) => [row[0], tip.exact[at]]).sort();
    if (tip.step < step) low = middle;
    else high = middle;
  }
  throw new Error(`no tooltip of step ${step}`);
}

async function saved(page) {
  const waiting = page.waitForEvent('download');
  await page.getByRole('button', {name: 'Save as HTML'}).click();
  const path = join(temporary(), 'report.html');
  await (await waiting).saveAs(path);
  return path;
}

test('panels: a report of the charts in view opens from disk without any request and shows the same curves', async ({
  page,
  open,
  context,
}) => {
  await open(logdir());
  await ready(page);
  await page.getByRole('button', {name: 'Make a report of these charts'}).click();
  await chart(page, 'train/loss').waitFor();
  await chart(page, 'eval/acc').waitFor();
  await page.getByRole('button', {name: 'Edit', exact: true}).click();
  await page
    .getByRole('textbox', {name: 'Text'})
    .fill('# Findings\n\nLoss is **low** in `a/s0`. <script>alert(1)</script>');
  await page.keyboard.press('Control+Enter');
  await page.getByRole('heading', {name: 'Findings'}).waitFor();
  const steps = [100, 500, 1900];
  const shown = [];
  for (const step of steps) shown.push(await tipOfStep(page, 'train/loss', step));
  equal(shown[1].length, 6, 'rows of the tooltip');

  const path = await saved(page);
  const disk = await context.newPage();
  const requests = [];
  disk.on('request', request => requests.push(request.url()));
  await context.setOffline(true);
  await disk.goto(pathToFileURL(path).href);
  await chart(disk, 'train/loss').waitFor();
  await chart(disk, 'eval/acc').waitFor();
  await disk.getByRole('heading', {name: 'Findings'}).waitFor();
  equal(await disk.locator('strong').innerText(), 'low', 'Markdown');
  for (const [i, step] of steps.entries()) equal(await tipOfStep(disk, 'train/loss', step), shown[i], `step ${step}`);

  const box = await chart(disk, 'train/loss').boundingBox();
  await disk.mouse.move(box.x + box.width * 0.3, box.y + box.height * 0.3);
  await disk.mouse.down();
  await disk.mouse.move(box.x + box.width * 0.5, box.y + box.height * 0.6, {
    steps: 4,
  });
  await disk.mouse.up();
  await panel(disk, 'train/loss').getByRole('button', {name: 'Reset zoom'}).waitFor();
  equal(await tipOfStep(disk, 'train/loss', 700), await tipOfStep(page, 'train/loss', 700), 'zoomed');
  equal(await axe(disk), [], 'axe');
  equal(
    requests.filter(url => !url.startsWith('blob:')),
    [pathToFileURL(path).href],
    'requests of the file',
  );
});

test('panels: ten charts of ten runs make a file of at most 2 MB', async ({page, open}) => {
  const dir = temporary();
  for (let run = 0; run < 10; run++)
    writeRun(
      dir,
      `run${run}`,
      Array.from({length: 1000}, (_, i) => [
        i,
        Object.fromEntries(
          Array.from({length: 10}, (_, tag) => [
            `m/tag${tag}`,
            Math.fround(Math.sin(i * (run + 1)) + Math.random() + tag),
          ]),
        ),
      ]),
      1.7e9 + run,
    );
  await open(dir);
  await ready(page, 'm/tag0');
  await page.getByRole('button', {name: 'Make a report of these charts'}).click();
  await chart(page, 'm/tag0').waitFor();
  const {size} = statSync(await saved(page));
  check(size > 500_000 && size <= 2_000_000, `the file has ${size} bytes`);
});

test('panels: a page keeps its panels, their order and sizes; they are dragged, resized, removed and brought back', async ({
  page,
  open,
}) => {
  const dir = temporary();
  writeRun(
    dir,
    'one',
    Array.from({length: 50}, (_, i) => [i, {loss: 1 / (i + 1), acc: i, lr: 0.1}]),
    1.7e9,
  );
  await open(dir, '#panels');
  await page.getByRole('button', {name: 'New page'}).first().click();
  const add = async tag => {
    await page.getByRole('button', {name: 'Add panel'}).click();
    await page.getByRole('menuitem', {name: 'Chart'}).click();
    await page.getByLabel('Line 1').fill(tag);
    await page.getByRole('button', {name: 'Save', exact: true}).click();
    await chart(page, tag).waitFor();
  };
  for (const tag of ['loss', 'acc', 'lr']) await add(tag);
  const order = () => page.locator('[data-panel]').evaluateAll(all => all.map(one => one.ariaLabel));
  equal(await order(), ['loss', 'acc', 'lr'], 'order');
  const head = async (name, share) => {
    const box = await panel(page, name).locator('header').boundingBox();
    return [box.x + box.width * share, box.y + box.height / 2];
  };
  await page.mouse.move(...(await head('lr', 0.5)));
  await page.mouse.down();
  await page.mouse.move(...(await head('loss', 0.2)), {steps: 6});
  await page.mouse.up();
  await eventually(order, ['lr', 'loss', 'acc'], 'dragged');
  const before = await panel(page, 'lr').boundingBox();
  await panel(page, 'lr').hover();
  await page.mouse.move(before.x + before.width - 4, before.y + before.height - 4);
  await page.mouse.down();
  await page.mouse.move(before.x + before.width * 1.5, before.y + before.height + 96, {steps: 6});
  await page.mouse.up();
  await eventually(async () => {
    const now = await panel(page, 'lr').boundingBox();
    return now.width > before.width * 1.3 && now.height === before.height + 96;
  });
  await panel(page, 'acc').hover();
  await panel(page, 'acc').getByRole('button', {name: 'More actions'}).click();
  await page.getByRole('menuitem', {name: 'Remove panel'}).click();
  await eventually(order, ['lr', 'loss'], 'removed');
  await page.getByRole('button', {name: 'Undo'}).click();
  await eventually(order, ['lr', 'loss', 'acc'], 'undone');
  await settled(page);
  await page.reload();
  await chart(page, 'lr').waitFor();
  equal(await order(), ['lr', 'loss', 'acc'], 'after a reload');
  equal(await axe(page), [], 'axe');
});

test('panels: bars, boxes, points and a single number tell the values of the runs, in the page and in the file', async ({
  page,
  open,
  context,
}) => {
  const dir = temporary();
  const losses = [0.5, 0.25, 0.125, 1];
  losses.forEach((loss, run) =>
    writeRun(
      dir,
      `${run < 2 ? 'a' : 'b'}/r${run}`,
      [0, 1, 2].map(step => [step, {loss: loss + 2 - step, acc: run}]),
      1.7e9 + run,
    ),
  );
  await open(dir, '#panels');
  await page.getByRole('button', {name: 'New page'}).first().click();
  const add = async (kind, ...values) => {
    await page.getByRole('button', {name: 'Add panel'}).click();
    await page.getByRole('menuitem', {name: kind, exact: true}).click();
    const dialog = page.getByRole('dialog');
    for (const [axis, tag] of values) {
      await dialog.getByRole('button', {name: axis}).first().click();
      await page.getByRole('option', {name: tag, exact: true}).click();
    }
    await dialog.getByRole('button', {name: 'Save', exact: true}).click();
    await dialog.waitFor({state: 'detached'});
  };
  await add('Bars', ['Value', 'loss']);
  await add('Box plot', ['Value', 'loss']);
  await add('Scatter plot', ['X axis', 'acc'], ['Y axis', 'loss']);
  await add('Single number', ['Value', 'loss']);
  const bars = where =>
    where
      .getByRole('list', {name: '4 bars'})
      .getByRole('listitem')
      .evaluateAll(rows => rows.map(row => row.title));
  const expected = ['b/r3: 1', 'a/r0: 0.5', 'a/r1: 0.25', 'b/r2: 0.125'];
  await eventually(() => bars(page), expected, 'bars');
  equal(await page.locator('.number strong').innerText(), '0.125', 'lowest');
  check((await page.locator('.number').innerText()).includes('b/r2'), 'its run');

  const plot = page.getByRole('img', {name: 'loss, last over acc, last, 4 runs'});
  const box = await plot.boundingBox();
  await passes(async () => {
    for (let x = 0.1; x < 1; x += 0.02)
      for (let y = 0.05; y < 0.9; y += 0.1) {
        await page.mouse.move(box.x + box.width * x, box.y + box.height * y);
        if ((await plot.locator('.tip').count()) > 0) return;
      }
    check(false, 'a tooltip of a point');
  });
  check(/acc, last: \d/.test(await plot.locator('.tip').innerText()), 'values of the point');

  equal(await axe(page), [], 'axe');
  const path = await saved(page);
  const disk = await context.newPage();
  await context.setOffline(true);
  await disk.goto(pathToFileURL(path).href);
  await eventually(() => bars(disk), expected, 'bars of the file');
  equal(await disk.locator('.number strong').innerText(), '0.125', 'number of the file');
  await context.setOffline(false);

  await page.getByRole('button', {name: /^Group/}).click();
  await page.getByRole('menuitemcheckbox', {name: 'folder'}).click();
  await eventually(
    () =>
      page
        .getByRole('list', {name: '2 bars'})
        .getByRole('listitem')
        .evaluateAll(rows => rows.map(row => row.title)),
    ['b: 0.5625 · Mean of 2 runs', 'a: 0.375 · Mean of 2 runs'],
    'means of groups',
  );
  await page.getByRole('img', {name: 'loss, last, 2 boxes'}).waitFor();
  if (process.env.SHOTS) await page.screenshot({path: join(process.env.SHOTS, 'values.png')});
});
