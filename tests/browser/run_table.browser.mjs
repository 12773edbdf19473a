// The run table as a tool: a baseline with differences, the columns that differ, what is done to many runs at once.
import {mkdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {writeRun} from './events.mjs';
import {axe, equal, eventually, settled, temporary, test} from './harness.mjs';

/** Four runs: `loss` 1, 2, 3, 4; lr differs, opt does not. */
function sweep() {
  const dir = temporary();
  for (const run of [1, 2, 3, 4]) {
    writeRun(
      dir,
      `r${run}`,
      [0, 1, 2].map(step => [step, {loss: run}]),
      1.7e9 + run,
    );
    mkdirSync(join(dir, `r${run}`), {recursive: true});
    writeFileSync(join(dir, `r${run}`, 'config.json'), JSON.stringify({lr: run / 100, opt: 'adam'}));
  }
  return dir;
}

const rows = page =>
  page
    .getByRole('treegrid')
    .locator('[data-row]')
    .evaluateAll(all => all.map(row => row.innerText.replace(/\s+/g, ' ').trim()));
const menuOf = async (page, run, item) => {
  await page.getByRole('treegrid').locator('[data-row]', {hasText: run}).click({button: 'right'});
  await page.getByRole('menu').getByText(item, {exact: true}).click();
};

test('run table: with a baseline the other rows show how far they are from it', async ({page, open}) => {
  await open(sweep());
  await eventually(() => rows(page), ['r1 1', 'r2 2', 'r3 3', 'r4 4'], 'values');
  await menuOf(page, 'r2', 'Use as baseline');
  await eventually(() => rows(page), ['r1 −1', 'r2 2', 'r3 +1', 'r4 +2'], 'differences');
  await page.getByText('Compared with r2').waitFor();
  await settled(page);
  equal(await axe(page), [], 'axe');
  await page.reload();
  await eventually(() => rows(page), ['r1 −1', 'r2 2', 'r3 +1', 'r4 +2'], 'the link keeps the baseline');
  await page.getByRole('button', {name: 'Show values again'}).click();
  await eventually(() => rows(page), ['r1 1', 'r2 2', 'r3 3', 'r4 4'], 'values again');
});

test('run table: what differs becomes columns, what does not is left out', async ({page, open}) => {
  await open(sweep());
  await eventually(() => rows(page), ['r1 1', 'r2 2', 'r3 3', 'r4 4'], 'values');
  await page.getByRole('button', {name: 'Columns', exact: true}).click();
  await page.getByRole('button', {name: 'Show what differs (1)'}).click();
  await page.keyboard.press('Escape');
  const heads = page.getByRole('treegrid').getByRole('columnheader');
  await eventually(
    async () => (await heads.allInnerTexts()).map(text => text.trim()).slice(-2),
    ['lr', 'loss'],
    'heads',
  );
  await eventually(() => rows(page), ['r1 0.01000 1', 'r2 0.02000 2', 'r3 0.03000 3', 'r4 0.04000 4'], 'cells');
});

test('run table: many runs are tagged and archived at once, and a click undoes it', async ({page, open}) => {
  await open(sweep());
  await eventually(() => rows(page), ['r1 1', 'r2 2', 'r3 3', 'r4 4'], 'values');
  for (const run of ['r3', 'r4']) await page.getByRole('checkbox', {name: `Show ${run}`}).uncheck({force: true});
  const bulk = async item => {
    await page.getByRole('button', {name: 'Actions for many runs'}).click();
    await page.getByRole('menuitem', {name: item}).click();
  };
  await bulk('Add a tag…');
  await page.getByRole('textbox', {name: 'Tag', exact: true}).fill('best');
  equal(await axe(page), [], 'axe of the dialog');
  await page.getByRole('button', {name: 'Add tag', exact: true}).click();
  await page.getByText('2 runs tagged best').waitFor();
  await page.getByRole('textbox', {name: /Filter runs/}).fill('tag:best');
  await eventually(async () => (await rows(page)).length, 2, 'runs with the tag');
  await page.getByRole('textbox', {name: /Filter runs/}).fill('');
  await eventually(async () => (await rows(page)).length, 4, 'all runs');

  await bulk('Archive the 2 runs not selected');
  await eventually(async () => (await rows(page)).length, 2, 'archived');
  await page.getByText('2 runs archived').waitFor();
  await page.getByRole('button', {name: 'Undo'}).last().click();
  await eventually(async () => (await rows(page)).length, 4, 'undone');
  await bulk('Archive them (hide everywhere)');
  await eventually(async () => (await rows(page)).length, 2, 'the selected ones archived');
  await settled(page);
  await page.reload();
  await eventually(async () => (await rows(page)).length, 2, 'still archived');
  await bulk('Restore 2 archived runs');
  await eventually(async () => (await rows(page)).length, 4, 'restored');
});
