// The page of one run: what it was started with, what it reached, and how another run differs.
import {mkdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {writeRun} from './events.mjs';
import {axe, check, equal, eventually, temporary, test} from './harness.mjs';

function logs() {
  const dir = temporary();
  for (const [name, lr, loss] of [
    ['first', 0.1, 1],
    ['second', 0.2, 3],
  ]) {
    writeRun(
      dir,
      name,
      [0, 1, 2].map(step => [step, {loss: loss + 2 - step}]),
      1.7e9,
    );
    mkdirSync(join(dir, name), {recursive: true});
    writeFileSync(join(dir, name, 'config.json'), JSON.stringify({lr, optimizer: 'adam'}));
  }
  writeFileSync(
    join(dir, 'first', 'sonde_run.json'),
    JSON.stringify({
      git: {commit: '0123abc'},
      command: ['train.py', '<img src=x onerror=alert(1)>'],
    }),
  );
  writeFileSync(join(dir, 'first', 'git.diff'), '-old\n+<b>new</b>\n');
  return dir;
}

const rows = (page, heading) =>
  page
    .locator('section.card', {
      has: page.getByRole('heading', {name: heading, exact: true}),
    })
    .locator('tbody tr')
    .evaluateAll(all => all.map(row => [...row.cells].map(cell => cell.innerText.trim())));

test('run page: opened from the table it tells config, metrics and environment, and what differs from another run', async ({
  page,
  open,
}) => {
  await open(logs());
  await page.locator('[data-row^="r "]', {hasText: 'first'}).click({button: 'right'});
  await page.getByRole('menuitem', {name: 'Open run page'}).click();
  await page.getByRole('heading', {name: 'first'}).waitFor();
  await eventually(
    () => rows(page, 'Hyperparameters'),
    [
      ['lr', '0.1'],
      ['optimizer', 'adam'],
    ],
    'hyperparameters',
  );
  await eventually(() => rows(page, 'Metrics'), [['loss', '1', '1', '3']], 'metrics');
  await eventually(
    () => rows(page, 'Environment'),
    [
      ['git.commit', '0123abc'],
      ['command', 'train.py <img src=x onerror=alert(1)>'],
    ],
    'environment, as text',
  );
  await page.getByText('Uncommitted changes').click();
  check((await page.locator('pre').innerText()).includes('+<b>new</b>'), 'the diff as text');

  await page.getByRole('button', {name: 'Compare with'}).click();
  await page.getByRole('option', {name: 'second'}).click();
  await eventually(
    () => rows(page, 'Hyperparameters'),
    [
      ['lr', '0.1', '0.2'],
      ['optimizer', 'adam', 'adam'],
    ],
    'both',
  );
  await page.getByRole('switch', {name: 'Only what differs'}).click();
  await eventually(() => rows(page, 'Hyperparameters'), [['lr', '0.1', '0.2']], 'what differs');
  await eventually(
    () => rows(page, 'Metrics'),
    [['loss', '1', '1', '3', '3', '−2']],
    'the difference of the last values',
  );
  equal(await axe(page), [], 'axe');

  await page.reload();
  await page.getByRole('heading', {name: 'first'}).waitFor();
  await eventually(() => rows(page, 'Metrics'), [['loss', '1', '1', '3', '3', '−2']], 'the link restores both runs');
  await page.getByRole('button', {name: 'Show both in the charts'}).click();
  await page.locator('[data-chart=ready]').first().waitFor();
});
