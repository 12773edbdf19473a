// The shell and the time series page, on logs whose every number is known.
import {readFileSync} from 'node:fs';
import {append, writeRun} from './events.mjs';
import {axe, check, close, equal, numberOf, shared, skip, temporary, test} from './harness.mjs';

const N = 200;
const value = (run, step) => Math.fround(2 * Math.exp(-step / 60) + 0.1 * run + 0.05 * Math.sin(step * (run + 1)));
let logs;
/** Six runs, three tags; run "b/s1" has NaN at steps 100 … 104. */
function logdir() {
  if (logs !== undefined) return logs;
  logs = temporary();
  ['a/s0', 'a/s1', 'a/s2', 'b/s0', 'b/s1', 'b/s2'].forEach((name, run) => {
    const points = [];
    for (let step = 0; step < N; step++) {
      const loss = name === 'b/s1' && step >= 100 && step < 105 ? NaN : value(run, step);
      points.push([step * 10, {'train/loss': loss, 'train/epoch': Math.floor(step / 20), 'eval/acc': 1 - value(run, step) / 3}]);
    }
    writeRun(logs, name, points, 1.7e9 + run * 1000);
  });
  return logs;
}
const card = (page, tag) => page.locator(`[data-card="${tag}"]`).first();
async function ready(page, tag = 'train/loss') {
  await card(page, tag).locator('[data-chart=ready]').waitFor();
  await page.waitForTimeout(250);
}
async function hover(page, tag, fx, fy) {
  const box = await card(page, tag).locator('[data-chart=ready]').boundingBox();
  await page.mouse.move(box.x + box.width * fx, box.y + box.height * fy);
  await page.locator('.tip').waitFor();
  await page.waitForTimeout(80);
}
function reference(run, weight) {
  let last = 0;
  let n = 0;
  return Array.from({length: N}, (_, i) => {
    const y = run === 4 && i >= 100 && i < 105 ? NaN : value(run, i);
    if (!Number.isFinite(y)) return y;
    last = last * weight + (1 - weight) * y;
    n++;
    return last / (1 - weight ** n);
  });
}
/** Chooses in a select of the settings, by the row's label. */
async function choose(page, row, option) {
  await page.mouse.move(5, 5);
  await page.locator('.insp .opt').filter({has: page.getByText(row, {exact: true})}).first().locator('.sel').click();
  await page.getByRole('option', {name: option, exact: true}).click();
  await page.waitForTimeout(500);
}
const NAMES = ['a/s0', 'a/s1', 'a/s2', 'b/s0', 'b/s1', 'b/s2'];
async function tipRows(page) {
  const step = numberOf((await page.locator('.tip .t .b').textContent()).replace('Step', ''));
  const rows = await page.locator('.tip tbody tr').evaluateAll((trs) => trs.map((tr) => [...tr.querySelectorAll('td')].map((td) => td.textContent.trim())));
  const exact = await page.locator('.tip tbody tr td:last-child').evaluateAll((tds) => tds.map((td) => td.title));
  return {step, rows: rows.filter((row) => NAMES.includes(row[0])), exact};
}

test('the first page shows charts with curves, no console error', async ({page, open}) => {
  await open(logdir());
  await ready(page);
  equal(await page.locator('[data-card]').count(), 3, 'cards');
  equal(await page.locator('[role=treegrid] [role=row][aria-selected=true]').count(), 6, 'rows shown');
  check((await page.title()).includes('Time series'), 'title');
  check(page.url().includes('#timeseries'), 'the tab is in the address');
});

test('the tooltip equals the data, smoothed values equal the reference', async ({page, open}) => {
  await open(logdir());
  await ready(page);
  await hover(page, 'train/loss', 0.62, 0.5);
  const {step, rows, exact} = await tipRows(page);
  equal(rows.length, 6, 'rows');
  rows.forEach(([name, smoothed, shown], i) => {
    const run = NAMES.indexOf(name);
    const raw = value(run, step / 10);
    close(numberOf(shown), raw, 6e-4, `value of ${name}`);
    equal(Number(exact[i]), raw, `all digits of ${name}`);
    close(numberOf(smoothed), reference(run, 0.6)[step / 10], 6e-4, `smoothed ${name}`);
  });
});

test('another weight, window mean and no smoothing change the shown value', async ({page, open}) => {
  await open(logdir());
  await ready(page);
  const weight = page.getByRole('textbox', {name: 'Smoothing'});
  await weight.fill('0.95');
  await weight.press('Enter');
  await page.waitForTimeout(300);
  await hover(page, 'train/loss', 0.5, 0.5);
  let tip = await tipRows(page);
  for (const [name, smoothed] of tip.rows) close(numberOf(smoothed), reference(NAMES.indexOf(name), 0.95)[tip.step / 10], 6e-4, name);
  await choose(page, 'Method', 'None');
  await hover(page, 'train/loss', 0.5, 0.5);
  equal(await page.locator('.tip th').count(), 2, 'no column for smoothed values');
  await choose(page, 'Method', 'Window mean');
  await hover(page, 'train/loss', 0.5, 0.5);
  tip = await tipRows(page);
  const [name, smoothed] = tip.rows.find((row) => row[0] === 'a/s0');
  const at = tip.step / 10;
  const mean = Array.from({length: 11}, (_, k) => value(0, at - 5 + k)).reduce((a, b) => a + b) / 11;
  close(numberOf(smoothed), mean, 6e-4, `window mean of ${name}`);
});

test('a drag zooms every linked card, double click fits again', async ({page, open}) => {
  await open(logdir());
  await ready(page);
  const box = await card(page, 'train/loss').locator('[data-chart=ready]').boundingBox();
  await page.mouse.move(box.x + box.width * 0.4, box.y + box.height * 0.5);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.6, box.y + box.height * 0.5, {steps: 4});
  await page.mouse.up();
  await page.locator('.chip', {hasText: 'Zoom'}).waitFor();
  const text = await page.locator('.chip', {hasText: 'Zoom'}).textContent();
  const [from, to] = text.match(/[\d\u202f]+/g).map(numberOf);
  check(from > 500 && to < 1300 && from < to, `zoom ${from} – ${to}`);
  await page.waitForTimeout(300);
  check(page.url().includes('v=1.'), 'the zoom is in the address');
  await page.mouse.dblclick(box.x + box.width * 0.5, box.y + box.height * 0.4);
  await page.waitForTimeout(200);
  equal(await page.locator('.chip', {hasText: 'Zoom'}).count(), 0, 'zoom chip');
});

test('a range on the axis gives a table with the right numbers, linked to all cards', async ({page, open}) => {
  await open(logdir());
  await ready(page);
  const box = await card(page, 'train/loss').locator('[data-chart=ready]').boundingBox();
  await page.mouse.move(box.x + box.width * 0.4, box.y + box.height - 8);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.7, box.y + box.height - 8, {steps: 5});
  await page.mouse.up();
  await page.mouse.move(5, 5);
  const chip = await page.locator('.chip', {hasText: 'Linked range'}).textContent();
  const [from, to] = chip.match(/[\d\u202f]+/g).map(numberOf);
  const table = card(page, 'train/loss').locator('.mini');
  await table.waitFor();
  const rows = await table.locator('tbody tr').evaluateAll((trs) => trs.map((tr) => [...tr.querySelectorAll('td')].map((td) => td.textContent.trim())));
  for (const [name, start, end, delta] of rows) {
    const smooth = reference(NAMES.indexOf(name), 0.6);
    close(numberOf(start), smooth[from / 10], 6e-4, `${name} at ${from}`);
    close(numberOf(end), smooth[to / 10], 6e-4, `${name} at ${to}`);
    close(numberOf(delta.replace('+', '')), smooth[to / 10] - smooth[from / 10], 1.2e-3, `Δ of ${name}`);
  }
  equal(await page.locator('.mini').count(), 3, 'tables of all cards');
});

test('filter, isolate, hide all; the link restores the view', async ({page, open, context}) => {
  await open(logdir());
  await ready(page);
  await page.getByRole('textbox', {name: /Filter runs/}).fill('^a/');
  await page.waitForTimeout(300);
  equal(await page.locator('[role=treegrid] [data-row]').count(), 3, 'rows that match');
  await page.locator('[data-row]').nth(1).locator('input').dblclick();
  await page.waitForTimeout(400);
  equal(await page.locator('[data-row][aria-selected=true]').count(), 1, 'isolated');
  await page.getByRole('textbox', {name: 'Filter tags'}).fill('loss');
  await page.waitForTimeout(400);
  const url = page.url();
  const other = await context.newPage();
  await other.goto(url);
  await other.locator('[data-chart=ready]').first().waitFor();
  equal(await other.locator('[data-card]').count(), 1, 'cards of the copied link');
  equal(await other.locator('[data-row][aria-selected=true]').count(), 1, 'runs of the copied link');
  equal(await other.getByRole('textbox', {name: /Filter runs/}).inputValue(), '^a/', 'filter of the copied link');
});

test('a broken regular expression says so', async ({page, open}) => {
  await open(logdir());
  await ready(page);
  await page.getByRole('textbox', {name: /Filter runs/}).fill('a(');
  await page.getByText('is no regular expression').waitFor();
  await page.getByRole('textbox', {name: 'Filter tags'}).fill('zzz');
  await page.getByText('No tag matches /zzz/ out of 3 tags').waitFor();
});

test('groups by folder draw the mean; the tooltip shows it', async ({page, open}) => {
  await open(logdir());
  await ready(page);
  await page.getByRole('button', {name: /^Group/}).click();
  await page.getByRole('menuitemcheckbox', {name: 'folder'}).click();
  await page.waitForTimeout(700);
  equal(await page.locator('[data-row^="g "]').count(), 2, 'group rows');
  await choose(page, 'Method', 'None');
  await hover(page, 'train/loss', 0.3, 0.6);
  const step = numberOf((await page.locator('.tip .t .b').textContent()).replace('Step', ''));
  const rows = await page.locator('.tip tbody tr').evaluateAll((trs) => trs.map((tr) => [...tr.querySelectorAll('td')].map((td) => td.textContent.trim())));
  const mean = [0, 1, 2].reduce((sum, run) => sum + value(run, step / 10), 0) / 3;
  close(numberOf(rows.find((row) => row[0] === 'a')[1]), mean, 6e-4, 'mean of group a');
});

test('x = another tag', async ({page, open}) => {
  await open(logdir());
  await ready(page);
  await choose(page, 'X', 'train/epoch');
  await hover(page, 'train/loss', 0.5, 0.5);
  check((await page.locator('.tip .t .b').textContent()).includes('train/epoch'), 'the tooltip names the axis');
});

test('colour, name and note of a run are kept with the logs', async ({page, open}) => {
  const dir = temporary();
  writeRun(dir, 'one', [[0, {loss: 1}], [1, {loss: 2}]]);
  await open(dir);
  await ready(page, 'loss');
  await page.getByRole('button', {name: 'Colour of one'}).click();
  await page.getByRole('button', {name: 'Colour 8', exact: true}).click();
  await page.locator('[data-row]').first().click({button: 'right'});
  await page.getByRole('menuitem', {name: /Details/}).click();
  await page.getByRole('textbox', {name: 'Name'}).fill('baseline');
  await page.getByRole('button', {name: 'Save', exact: true}).click();
  await page.waitForTimeout(500);
  const saved = JSON.parse(readFileSync(`${dir}/.sonde/sidecar.json`, 'utf8'));
  equal([saved.runs.one.alias, saved.runs.one.colour], ['baseline', '#be023c'], 'sidecar');
  await page.reload();
  await page.locator('[data-row]', {hasText: 'baseline'}).waitFor();
});

test('export: CSV equals the series', async ({page, open}) => {
  await open(logdir());
  await ready(page);
  await card(page, 'train/loss').hover();
  await card(page, 'train/loss').getByRole('button', {name: 'More actions'}).click();
  await page.getByRole('menuitem', {name: /Export/}).click();
  const download = page.waitForEvent('download');
  await page.getByRole('button', {name: 'Export', exact: true}).click();
  const lines = readFileSync(await (await download).path(), 'utf8').trim().split('\n');
  equal(lines.length, 1 + 6 * N, 'lines');
  for (const line of lines.slice(1)) {
    const [run, tag, step, , text] = line.split(',');
    const wanted = run === 'b/s1' && step >= 1000 && step < 1050 ? NaN : value(NAMES.indexOf(run), step / 10);
    check(tag === 'train/loss' && Object.is(Number(text), wanted), line);
  }
});

test('export: SVG has titles, legend and all lines', async ({page, open}) => {
  await open(logdir());
  await ready(page);
  await card(page, 'train/loss').locator('[data-chart=ready]').focus();
  await page.keyboard.press('e');
  await page.getByRole('radio', {name: 'SVG'}).click();
  const download = page.waitForEvent('download');
  await page.getByRole('button', {name: 'Export', exact: true}).click();
  const svg = readFileSync(await (await download).path(), 'utf8');
  for (const name of [...NAMES, 'Step', 'train/loss']) check(svg.includes(`>${name}</text>`), `${name} is missing`);
  check(!/NaN|undefined/.test(svg.replace(/<title>.*?<\/title>/, '')), 'a coordinate is no number');
});

test('new points and new runs appear without a reload; pause holds them back', async ({page, open}) => {
  const dir = temporary();
  const path = writeRun(dir, 'one', [[0, {loss: 1}], [1, {loss: 2}]]);
  await open(dir);
  await ready(page, 'loss');
  append(path, 1.7e9 + 2, 2, {loss: 3});
  await page.waitForFunction(() => document.querySelector('[data-card] [data-chart]')?.getAttribute('aria-label')?.includes('to 2'));
  writeRun(dir, 'two', [[0, {loss: 5}]]);
  await page.locator('[data-row]', {hasText: 'two'}).waitFor();
  await page.keyboard.press('p');
  append(path, 1.7e9 + 3, 3, {loss: 4});
  await page.getByText('changes wait').or(page.getByText('change waits')).first().waitFor();
  check(!(await card(page, 'loss').locator('[data-chart]').getAttribute('aria-label')).includes('to 3'), 'paused but drawn');
  await page.keyboard.press('p');
  await page.waitForFunction(() => document.querySelector('[data-card] [data-chart]')?.getAttribute('aria-label')?.includes('to 3'));
});

test('an empty directory is explained and fills by itself', async ({page, open}) => {
  const dir = temporary();
  await open(dir);
  await page.getByRole('heading', {name: /No data in/}).waitFor();
  await page.getByText('add_scalar').waitFor();
  writeRun(dir, 'first', [[0, {loss: 1}], [1, {loss: 2}]]);
  await ready(page, 'loss');
});

test('damage is named on the files page', async ({page, open}) => {
  const dir = shared('corpus/edge_corrupt');
  if (dir === null) skip();
  await open(dir, '#files');
  await page.getByText('What needs a look').waitFor();
  check((await page.locator('.issue').count()) > 0, 'no issue is listed');
});

test('keyboard only: palette, filter, chart, run table', async ({page, open}) => {
  await open(logdir());
  await ready(page);
  await page.keyboard.press('Control+k');
  await page.keyboard.type('eval/acc');
  await page.keyboard.press('Enter');
  await page.waitForTimeout(300);
  equal(await page.locator('[data-card]').count(), 1, 'the palette narrows to the tag');
  await page.keyboard.press('Control+z');
  await page.waitForTimeout(300);
  equal(await page.locator('[data-card]').count(), 3, 'undo');
  await page.keyboard.press('?');
  await page.getByRole('dialog', {name: 'Keyboard'}).waitFor();
  await page.keyboard.press('Escape');
  await card(page, 'train/loss').locator('[data-chart]').focus();
  await page.keyboard.press('Enter');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  await page.locator('.tip').waitFor();
  equal(numberOf((await page.locator('.tip .t .b').textContent()).replace('Step', '')), 20, 'step by arrows');
  await page.keyboard.press('Escape');
  await page.keyboard.press('f');
  await page.locator('.card.full').waitFor();
  await page.keyboard.press('Escape');
  await page.locator('[data-row]').first().focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('o');
  await page.waitForTimeout(200);
  equal(await page.locator('[data-row][aria-selected=true]').count(), 1, 'only this');
});

for (const [name, dark] of [['light', false], ['dark', true]]) {
  test(`axe finds nothing serious, ${name}`, async ({page, open}) => {
    await open(logdir());
    await ready(page);
    equal(await axe(page), [], 'time series');
    await page.keyboard.press('Control+k');
    await page.waitForTimeout(100);
    equal(await axe(page), [], 'palette');
    await page.keyboard.press('Escape');
    await page.goto(page.url().replace(/#.*/, '#files'));
    await page.getByText('Records read').waitFor();
    equal(await axe(page), [], 'files');
  }, {dark});
}

test('a small frame has no scroll bar of its own', async ({page, open}) => {
  await open(logdir());
  await ready(page, 'eval/acc');
  const size = await page.evaluate(() => [document.documentElement.scrollWidth <= innerWidth, document.documentElement.scrollHeight <= innerHeight]);
  equal(size, [true, true], 'the page fits');
}, {viewport: {width: 800, height: 600}});

test('links of TensorBoard open the same view', async ({page, open}) => {
  await open(logdir(), '?smoothing=0.9&runFilter=%5Ea#scalars&tagFilter=loss');
  await ready(page);
  equal(await page.locator('[data-card]').count(), 1, 'tag filter');
  equal(await page.locator('[data-row]').count(), 3, 'run filter');
  equal(await page.getByRole('textbox', {name: 'Smoothing'}).inputValue(), '0.9', 'smoothing');
});
