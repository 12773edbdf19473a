// Pictures of every dashboard for the documentation, from the demo's logs, light and dark:
//   node tools/screenshots.mjs LOGDIR [OUT] [TAB ...]    (default OUT: build/images; all tabs unless named)
// The pictures of hyper-parameters and graphs come from logs that a script makes:
//   bench/hparams.py --make DIR --sessions 30; node tools/screenshots.mjs DIR build/images hparams
//   bench/graph.py --make DIR --nodes 152; node tools/screenshots.mjs DIR build/images graphs
// Those of the profile pages come from tools/profile_pictures.mjs.
// The docs keep a dozen of them (docs/images, at most 150 kB each); the others are made when they are wanted.
// Needs build/release/sonde and the page's node_modules (playwright-core) and chromium.
import {mkdirSync} from 'node:fs';
import {createRequire} from 'node:module';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {serve} from './serve.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const {chromium} = createRequire(join(root, 'web/package.json'))('playwright-core');
const [logdir, out = join(root, 'build/images'), ...wanted] = process.argv.slice(2);
if (logdir === undefined) {
  console.error('usage: node tools/screenshots.mjs LOGDIR [OUT] [TAB ...]   (LOGDIR: see sonde demo)');
  process.exit(2);
}
mkdirSync(out, {recursive: true});

const {program, address} = await serve(logdir);

/** The upper half of the last axis, as a person would look for the best. */
async function brush(page) {
  const [head, lines] = [await page.locator('button.head').last().boundingBox(), await page.locator('.lines').boundingBox()];
  if (!head || !lines) return;
  const x = head.x + head.width / 2;
  await page.mouse.move(x, lines.y + 8);
  await page.mouse.down();
  await page.mouse.move(x, lines.y + lines.height * 0.3, {steps: 5});
  await page.mouse.up();
  await page.waitForTimeout(800);
}

/** Opens three scopes, one inside the other, and chooses an operation. */
async function unfold(page) {
  for (let i = 0; i < 3; i++) {
    const closed = page.locator('.node.scope:has(.body) .plus');
    if ((await closed.count()) === 0) break;
    await closed.first().dispatchEvent('click');
    await page.waitForTimeout(600);
  }
  await page.locator('.node.op').first().dispatchEvent('click');
  await page.waitForTimeout(600);
  await page.getByRole('button', {name: /^Fit/}).click();
  await page.waitForTimeout(900);
}

const browser = await chromium.launch({executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium'});
const first = await browser.newPage({viewport: {width: 1440, height: 900}});
await first.goto(address);
await first.locator('nav a[aria-current]').waitFor();
await first.waitForTimeout(1500);
const all = await first.locator('nav a.tab').evaluateAll((links) => links.map((link) => link.getAttribute('href').slice(1)));
const tabs = wanted.length > 0 ? wanted : all;
await first.close();
for (const scheme of ['light', 'dark']) {
  const page = await browser.newPage({viewport: {width: 1440, height: 900}, colorScheme: scheme});
  for (const tab of tabs) {
    await page.setViewportSize(tab === 'hparams' ? {width: 1160, height: 640} : {width: 1440, height: 900}); // curves in many colours make large files
    await page.goto(`${address}#${tab}`);
    await page.reload();
    await page.waitForTimeout(2500);
    if (tab === 'timeseries' && scheme === 'light') {
      const box = await page.locator('#app [data-chart=ready]').first().boundingBox();
      if (box) await page.mouse.move(box.x + box.width * 0.55, box.y + box.height * 0.5);
      await page.waitForTimeout(300);
    }
    if (tab === 'projector') {
      await page.getByRole('radio', {name: scheme === 'light' ? 'PCA' : 't-SNE', exact: true}).click();
      await page.getByRole('textbox', {name: 'Search points'}).fill('3');
      await page.locator('aside[aria-label=Inspector] .entry').first().click();
      await page.waitForTimeout(6000);
    }
    if (tab === 'hparams') await brush(page);
    if (tab === 'graphs') await unfold(page);
    await page.screenshot({path: join(out, `${tab}_${scheme}.png`)});
  }
  await page.close();
}
await browser.close();
program.kill('SIGTERM');
console.log(`${tabs.length * 2} pictures in ${out}`);
