// Opens a notebook in JupyterLab, runs all cells and looks for Sonde's page in the frame: notebook.mjs URL CHROMIUM
// Prints one line of JSON: the frame's title and some of its text, and what notebook.list() printed.
import { createRequire } from 'node:module';
import process from 'node:process';

const { chromium } = createRequire(`${process.cwd()}/package.json`)('playwright-core');
const [url, executablePath] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
try {
  const page = await browser.newPage({ viewport: { width: 1400, height: 1000 } });
  await page.goto(url, { timeout: 120_000 });
  await page.waitForSelector('.jp-NotebookPanel .jp-Cell', { timeout: 120_000 });
  // The kernel must be idle before cells can run.
  await page.waitForSelector('.jp-Notebook-ExecutionIndicator[data-status="idle"]', { timeout: 120_000 });
  // Keys pressed before the kernel is ready are lost: press again until the frame is there.
  const cell = page.locator('.jp-Notebook .jp-Cell .cm-content').first();
  let element = null;
  for (let attempt = 0; element === null && attempt < 8; attempt++) {
    // JupyterLab may ask about news or kernels at any moment; a dialog takes all clicks and keys.
    for (const dialog of await page.$$('.jp-Dialog .jp-mod-reject, .jp-Dialog .jp-mod-accept')) await dialog.click().catch(() => {});
    if (!(await cell.click().then(() => true, () => false))) continue;
    await page.keyboard.press('Control+Enter');
    element = await page.waitForSelector('iframe[id^="sonde-frame-"]', { timeout: 20_000 }).catch(() => null);
  }
  if (element === null) throw new Error(`no frame:\n${await page.innerText('body')}`);
  const frame = await element.contentFrame();
  await frame.waitForLoadState('domcontentloaded', { timeout: 60_000 });
  await frame.waitForFunction(() => document.body && document.body.innerText.trim().length > 0, null, { timeout: 60_000 });
  const listed = await page.waitForSelector('text=Known Sonde instances', { timeout: 60_000 });
  console.log(JSON.stringify({
    title: await frame.title(),
    text: (await frame.evaluate(() => document.body.innerText)).slice(0, 300),
    listed: await listed.innerText(),
  }));
} finally {
  await browser.close();
}
