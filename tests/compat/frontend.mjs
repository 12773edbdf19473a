// Opens every dashboard of TensorBoard's page and looks for data in it. Prints one line a check and
// "N passed, M failed". Usage: node frontend.mjs URL, with PLAYWRIGHT and CHROMIUM in the environment.
import {createRequire} from 'node:module';

const {chromium} = createRequire(import.meta.url)(process.env.PLAYWRIGHT);
const base = process.argv[2];
const kPatienceMs = 60_000;

// What TensorBoard's page says on its own server too.
const kUsual = [
  /favicon/,
  /notifications_note/,
  /Lit is in dev mode/,
  /GPU stall|GL Driver|WebGL|swiftshader/i,
  // On first load the page asks for the op graph of a tag that has only a conceptual one.
  /graphs\/graph.*404|404.*graphs\/graph/,
];

const browser = await chromium.launch({executablePath: process.env.CHROMIUM, args: ['--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist']});
let passed = 0;
let failed = 0;

function judge(name, problem) {
  if (problem) {
    console.log(`FAIL ${name}: ${problem}`);
    failed += 1;
  } else {
    console.log(`ok   ${name}`);
    passed += 1;
  }
}

// Opens a tab of its own, runs look(page), and fails on console errors that are not usual.
async function check(name, hash, look) {
  const context = await browser.newContext({viewport: {width: 1500, height: 1000}});
  const page = await context.newPage();
  const errors = [];
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(`${message.text()} ${message.location().url}`);
  });
  page.on('pageerror', (error) => errors.push(String(error)));
  try {
    await page.goto(`${base}/#${hash}`, {waitUntil: 'load', timeout: kPatienceMs});
    judge(name, await look(page));
  } catch (error) {
    judge(name, String(error).split('\n')[0]);
  }
  const unusual = errors.filter((text) => !kUsual.some((pattern) => pattern.test(text)));
  judge(`${name}: console`, unusual.slice(0, 3).join(' | '));
  await context.close();
}

async function appears(page, selector, least = 1) {
  const found = page.locator(selector);
  await found.nth(least - 1).waitFor({state: 'attached', timeout: kPatienceMs});
  return undefined;
}

await check('runs and time series', 'timeseries', async (page) => {
  await appears(page, 'runs-table, runs-data-table, tb-data-table');
  await appears(page, 'card-view scalar-card line-chart');
  await page.getByText('tf2_scalars', {exact: false}).first().waitFor({timeout: kPatienceMs});
});
await check('scalars', 'scalars', async (page) => {
  await appears(page, 'tf-scalar-card');
  await appears(page, 'tf-scalar-card tf-line-chart-data-loader');
});
await check('images', 'images', async (page) => {
  await appears(page, 'tf-image-loader img');
  await page.waitForFunction(() => {
    const all = [];
    const walk = (root) => {
      for (const element of root.querySelectorAll('*')) {
        if (element.tagName === 'IMG') all.push(element);
        if (element.shadowRoot) walk(element.shadowRoot);
      }
    };
    walk(document);
    return all.some((image) => image.src.includes('individualImage') && image.naturalWidth > 0);
  }, undefined, {timeout: kPatienceMs});
});
await check('histograms', 'histograms', (page) => appears(page, 'tf-histogram-loader svg path'));
await check('distributions', 'distributions', (page) => appears(page, 'tf-distribution-loader svg'));
await check('text', 'text', (page) => appears(page, 'tf-text-loader .step-container, tf-text-loader #steps'));
await check('graphs', 'graphs', (page) => appears(page, 'tf-graph-scene g.node, tf-graph g.node'));
await check('hparams', 'hparams', async (page) => {
  await appears(page, 'tf-hparams-table-view');
  await page.getByText('Learning rate').first().waitFor({timeout: kPatienceMs});
});
await check('projector', 'projector', async (page) => {
  const tensor = await page.waitForResponse((r) => r.url().includes('/projector/tensor?'), {timeout: kPatienceMs});
  if (tensor.status() !== 200) return `the tensor answers ${tensor.status()}`;
  const frame = page.frame({url: /projector_binary\.html/});
  if (!frame) return 'the frame did not load';
  await frame.getByText('Points:').first().waitFor({state: 'attached', timeout: kPatienceMs});
  await frame.getByText(/\b10\b/).first().waitFor({state: 'attached', timeout: kPatienceMs});
});

await browser.close();
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
