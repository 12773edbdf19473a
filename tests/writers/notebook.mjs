// Opens a notebook in JupyterLab or Notebook, runs its cell and looks for Sonde's page in the frame:
// notebook.mjs URL CHROMIUM [NAME: a host name that is to mean this machine]
// Prints one line of JSON: the frame's address, title and some of its text, and what notebook.list() printed.
import { createRequire } from 'node:module';
import process from 'node:process';

const { chromium } = createRequire(`${process.cwd()}/package.json`)('playwright-core');
const [url, executablePath, name] = process.argv.slice(2);
const names = name ? [`--host-resolver-rules=MAP ${name} 127.0.0.1`] : [];
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', ...names] });
try {
  const page = await browser.newPage({ viewport: { width: 1400, height: 1000 }, ignoreHTTPSErrors: true });
  await page.goto(url, { timeout: 120_000 });
  await page.waitForSelector('.jp-NotebookPanel .jp-Cell', { timeout: 120_000 });
  // The kernel must be idle before cells can run.
  await page.waitForSelector('.jp-Notebook-ExecutionIndicator[data-status="idle"], .jp-NotebookKernelStatus', { timeout: 120_000, state: 'attached' });
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
  if (name) await frame.waitForFunction(() => document.body.innerText.includes('loss'), null, { timeout: 60_000 });
  const listed = await page.waitForSelector('text=Known Sonde instances', { timeout: 60_000 });
  console.log(JSON.stringify({
    address: frame.url().replace(/token=[^&]*/, 'token='),
    title: await frame.title(),
    text: (await frame.evaluate(() => document.body.innerText)).slice(0, 2000),
    why: await page.locator('p[id^="sonde-frame-"]').innerText(),
    listed: await listed.innerText(),
  }));
} finally {
  await browser.close();
}
