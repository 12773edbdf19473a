// Opens an executed notebook as HTML whose server is gone and waits for the static view: notebook_static.mjs URL CHROMIUM
// Prints one line of JSON: why the page does not show, and how many curves are drawn instead.
import { createRequire } from 'node:module';
import process from 'node:process';

const { chromium } = createRequire(`${process.cwd()}/package.json`)('playwright-core');
const [url, executablePath] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
try {
  const page = await browser.newPage({ viewport: { width: 1400, height: 1000 } });
  await page.goto(url, { timeout: 60_000, waitUntil: 'domcontentloaded' });
  const details = page.locator('details[id^="sonde-frame-"][open]');
  await details.waitFor({ timeout: 60_000 });
  console.log(JSON.stringify({
    why: await page.innerText('p[id^="sonde-frame-"]'),
    curves: await details.locator('svg polyline').count(),
  }));
} finally {
  await browser.close();
}
