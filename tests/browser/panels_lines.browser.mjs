// Panels beyond plain tags: expressions over series and runs, an axis at the right, and what runs logged beside numbers
// under one step cursor, in the page and in the file saved from it.
import {cpSync} from 'node:fs';
import {join} from 'node:path';
import {pathToFileURL} from 'node:url';
import {writeRun} from './events.mjs';
import {axe, check, close, corpus, equal, eventually, passes, settled, temporary, test} from './harness.mjs';
import {numberOf} from './harness.mjs';

const panel = (page, name) => page.locator(`[data-panel][aria-label="${name}"]`);
const chart = (page, name) => panel(page, name).locator('[data-chart=ready]');

function twoRuns() {
  const dir = temporary();
  for (const run of [0, 1])
    writeRun(
      dir,
      `r${run}`,
      Array.from({length: 40}, (_, i) => [
        i,
        {'train/loss': 10 - i / 10, 'val/loss': 12 + run * 4 - i / 10, speed: 1000 + i},
      ]),
      1.7e9,
    );
  return dir;
}

async function addChart(page, lines, right = []) {
  await page.getByRole('button', {name: 'Add panel'}).click();
  await page.getByRole('menuitem', {name: 'Chart', exact: true}).click();
  for (const [i, line] of lines.entries()) await page.getByLabel(`Line ${i + 1}`, {exact: true}).fill(line);
  for (const line of right)
    await page.getByRole('checkbox', {name: `Measure ${line} on the right axis`}).check({force: true});
  await page.getByRole('button', {name: 'Save', exact: true}).click();
}

/** Label → value of every row of the tooltip in the middle of a panel. */
async function values(page, name) {
  let rows;
  await passes(async () => {
    const box = await chart(page, name).boundingBox();
    await page.mouse.move(2, 2);
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    rows = await page
      .locator('.tip tbody tr')
      .evaluateAll(all =>
        all.map(row => [row.cells[0].innerText.trim(), row.cells[row.cells.length - 1].innerText.trim()]),
      );
    check(rows.length > 0, 'a tooltip');
  });
  return new Map(rows.map(([label, value]) => [label, numberOf(value)]));
}

test(
  'panels: an expression over series is drawn for every run, one over runs as one line, and a wrong one says why',
  async ({page, open}) => {
    await open(twoRuns(), '#panels');
    await page.getByRole('button', {name: 'New page'}).first().click();
    await addChart(page, ['val/loss - train/loss']);
    const gap = await values(page, 'val/loss - train/loss');
    equal([...gap.keys()].sort(), ['r0', 'r1'], 'runs');
    close(gap.get('r0'), 2, 1e-5, 'r0');
    close(gap.get('r1'), 6, 1e-5, 'r1');

    await addChart(page, ['mean(val/loss - train/loss)']);
    const mean = await values(page, 'mean(val/loss - train/loss)');
    equal([...mean.keys()], ['mean(val/loss - train/loss)'], 'one line');
    close([...mean.values()][0], 4, 1e-5, 'mean over runs');

    await page.getByRole('button', {name: 'Add panel'}).click();
    await page.getByRole('menuitem', {name: 'Chart', exact: true}).click();
    await page.getByLabel('Line 1', {exact: true}).fill('val/loss - eval/loss');
    await page.getByRole('button', {name: 'Save', exact: true}).click();
    await page.getByText('no scalar tag is named “eval/loss”').first().waitFor();
    equal(await axe(page), [], 'axe of the dialog');
    await page.keyboard.press('Escape');
  },
  {console: false},
);

test('panels: a line on the right axis has a scale of its own, and the tooltip still tells its value', async ({
  page,
  open,
}) => {
  await open(twoRuns(), '#panels');
  await page.getByRole('button', {name: 'New page'}).first().click();
  await addChart(page, ['train/loss', 'speed'], ['speed']);
  const name = 'train/loss, speed';
  const all = await values(page, name);
  const speeds = [...all].filter(([label]) => label.includes('speed'));
  equal(speeds.length, 2, 'lines of speed');
  check(
    speeds.every(([, value]) => value > 1000),
    'true values',
  );
  // Both lines fill the height of the plot: with one axis the loss would be a flat line at the bottom.
  const box = await chart(page, name).boundingBox();
  const inks = await chart(page, name)
    .locator('canvas')
    .first()
    .evaluate(canvas => {
      const g = canvas.getContext('2d');
      const {data, width, height} = g.getImageData(0, 0, canvas.width, canvas.height);
      const rows = new Set();
      for (let y = 0; y < height - 40; y++)
        for (let x = 60; x < width - 60; x++) {
          const i = 4 * (y * width + x);
          const [r, g2, b, a] = data.slice(i, i + 4);
          if (a > 200 && Math.max(r, g2, b) - Math.min(r, g2, b) > 60) rows.add(Math.floor(y / 10));
        }
      return rows.size;
    });
  check(inks > (box.height - 40) / 10 / 2, `the lines reach over the plot (${inks} of ${box.height / 10} strips)`);
  if (process.env.SHOTS) await page.screenshot({path: join(process.env.SHOTS, 'axis.png')});
  await settled(page);
  await page.reload();
  const again = await values(page, name);
  equal([...again.keys()].sort(), [...all.keys()].sort(), 'after a reload');
});

test('panels: images, histograms and text follow one step cursor, in the page and in the file', async ({
  page,
  open,
  context,
}) => {
  const dir = temporary();
  cpSync(corpus('tbx_all'), dir, {recursive: true}); // the page is kept beside the logs
  await open(dir, '#panels');
  await page.getByRole('button', {name: 'New page'}).first().click();
  for (const kind of ['Images', 'Histograms', 'Logged text']) {
    await page.getByRole('button', {name: 'Add panel'}).click();
    await page.getByRole('menuitem', {name: kind, exact: true}).click();
    await page.getByRole('dialog').getByRole('button', {name: 'Save', exact: true}).click();
    await page.getByRole('dialog').waitFor({state: 'detached'});
  }
  await page.locator('[data-panel] .image img').first().waitFor();
  await page.locator('[data-panel] .histogram canvas').first().waitFor();
  await page.locator('[data-panel] .text .words').first().waitFor();
  await settled(page);
  const step = page.getByLabel('Step', {exact: true}).first();
  const newest = await page.locator('[data-panel] .at').allInnerTexts();
  await page.getByRole('button', {name: 'Previous step'}).click();
  const before = numberOf(await step.inputValue());
  await eventually(
    async () => (await page.locator('[data-panel] .at').allInnerTexts()).some((text, i) => text !== newest[i]),
    true,
    'panels at another step',
  );
  await settled(page);
  const shown = await page.locator('[data-panel] .at').allInnerTexts();
  check(
    shown.some(text => text.startsWith(`Step ${before}`)),
    `${shown} at ${before}`,
  );
  equal(await axe(page), [], 'axe');
  if (process.env.SHOTS) await page.screenshot({path: join(process.env.SHOTS, 'media_panels.png')});

  const waiting = page.waitForEvent('download');
  await page.getByRole('button', {name: 'Save as HTML'}).click();
  const path = join(temporary(), 'report.html');
  await (await waiting).saveAs(path);
  const disk = await context.newPage();
  await context.setOffline(true);
  await disk.goto(pathToFileURL(path).href);
  await disk.locator('[data-panel] .image img').first().waitFor();
  await eventually(() => disk.locator('[data-panel] .at').allInnerTexts(), shown, 'the file at that step');
  check(
    await disk
      .locator('[data-panel] .image img')
      .first()
      .evaluate(img => img.naturalWidth > 0),
    'the image itself',
  );
});
