// How soon and how smoothly the page shows data, in headless Chromium with software rendering, against
// TensorBoard's own page on the same logs in the same run, alternating; medians.
//
//   node bench/page.mjs [--parts first,frames,zoom] [--rounds 3] [--runs 1000] [--points 10000000]
//                       [--logs DIR] [--python TB_VENV/bin/python] [--sizes small,many] [--no-rival] [--starting] [--profile FILE]
//
// first   first chart with its data, requests, bytes, JavaScript heap: a small directory (5 runs × 10 tags)
//         and many runs (--runs × 20 tags)
// frames  hover, drag and wheel zoom with all those runs drawn: frame times; TensorBoard after "select all"
// zoom    20 drags into one series of --points points: from mouse-up to the painted finer data
//
// Logs are made once into --logs by the shared log maker ($SONDE_SHARED or ../shared, needs numpy in
// --python). TensorBoard has everything loaded before its page is opened, as has Sonde. Every page is opened in a fresh
// browser that has been up for two seconds, as a person's has; with --starting at once, while the browser still loads
// parts of its own on the same cores. --profile writes a CPU profile of Sonde's first load. Full size takes about 12
// minutes, most of it TensorBoard's page on many runs; --rounds 1 --runs 100 --points 1000000 about one. Prints
// Markdown tables.
import {spawn, spawnSync} from 'node:child_process';
import {existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {createServer} from 'node:net';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {frames, median, pause, quantile} from './frames.mjs';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
const SHARED = process.env.SONDE_SHARED ?? join(ROOT, '../shared');
const {chromium} = createRequire(join(ROOT, 'web/package.json'))('playwright-core');
const words = process.argv.slice(2);
const option = (name, normal) => (words.includes(`--${name}`) ? words[words.indexOf(`--${name}`) + 1] : normal);
if (words.includes('--help')) {
  console.log(
    readFileSync(fileURLToPath(import.meta.url), 'utf8')
      .split('\n')
      .filter(line => line.startsWith('//'))
      .map(line => line.slice(3))
      .slice(0, 20)
      .join('\n'),
  );
  process.exit(0);
}
const parts = option('parts', 'first,frames,zoom').split(',');
const rounds = Number(option('rounds', 3));
const runs = Number(option('runs', 1000));
const points = Number(option('points', 10_000_000));
const logs = option('logs', join(tmpdir(), 'sonde-bench'));
const python = option('python', 'python3');
const sizes = option('sizes', 'small,many').split(',');
const rival = !words.includes('--no-rival');
const BROWSER_UP_MS = words.includes('--starting') ? 0 : 2000;
const started = [];
const state = mkdtempSync(join(tmpdir(), 'sonde-page-bench-'));

const ms = v => (v >= 10_000 ? `${(v / 1000).toFixed(1)} s` : `${v.toFixed(v < 100 ? 1 : 0)} ms`);

/** A log directory of the shared maker, made when it is not there yet. */
function made(shape, name, ...more) {
  const out = join(logs, name);
  if (!existsSync(join(out, 'manifest.json'))) {
    const result = spawnSync(python, [join(SHARED, 'bench/make_logs.py'), shape, out, ...more], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    if (result.status !== 0) throw new Error(`could not make ${shape}: set SONDE_SHARED and --python (with numpy)`);
  }
  return out;
}

async function freePort() {
  const server = createServer();
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve));
  const {port} = server.address();
  await new Promise(resolve => server.close(resolve));
  return port;
}

class Gone extends Error {} // what is waited for will not come
process.on('exit', () => started.forEach(child => child.kill('SIGTERM')));

async function waitFor(what, look) {
  for (let i = 0; i < 3000; i++) {
    if (await look().catch(error => error instanceof Gone && Promise.reject(error))) return;
    await new Promise(resolve => setTimeout(resolve, 100));
  }
  throw new Error(`${what} did not come`);
}

/** Both servers on a directory, everything loaded. */
async function serve(logdir, withRival) {
  const manifest = JSON.parse(readFileSync(join(logdir, 'manifest.json'), 'utf8'));
  const [run, {last_step: last}] = Object.entries(manifest.runs).at(-1);
  const out = {};
  const port = await freePort();
  const env = {...process.env, XDG_STATE_HOME: state, XDG_CACHE_HOME: state};
  const sonde = spawn(
    process.env.SONDE_PROGRAM ?? join(ROOT, 'build/release/sonde'),
    ['--logdir', logdir, '--port', String(port), '--host', '127.0.0.1', '--sidecar', 'off'],
    {env, stdio: 'ignore'},
  );
  started.push(sonde);
  out.sonde = `http://127.0.0.1:${port}/`;
  const wanted = manifest.scalar_points;
  await waitFor(
    'Sonde',
    async () =>
      (await (await fetch(`${out.sonde}api/v1/runs`)).json()).runs.reduce((sum, one) => sum + one.points, 0) >= wanted,
  );
  if (withRival) {
    const theirs = await freePort();
    const child = spawn(
      python,
      ['-m', 'tensorboard.main', '--logdir', logdir, '--port', String(theirs), '--host', '127.0.0.1'],
      {stdio: 'ignore'},
    );
    started.push(child);
    child.on('exit', code => code > 0 && process.stderr.write(`TensorBoard ended with ${code}: is it in ${python}?\n`));
    out.tensorboard = `http://127.0.0.1:${theirs}/`;
    await waitFor('TensorBoard', async () => {
      if (child.exitCode !== null) throw new Gone();
      const tags = await (await fetch(`${out.tensorboard}data/plugin/scalars/tags`)).json();
      const tag = Object.keys(tags[run] ?? {})[0];
      if (tag === undefined || Object.keys(tags).length < manifest.n_runs) return false;
      const series = await (
        await fetch(`${out.tensorboard}data/plugin/scalars/scalars?${new URLSearchParams({run, tag})}`)
      ).json();
      return series.at(-1)[1] === last;
    });
  }
  out.stop = () => {
    for (const child of started.splice(0)) child.kill('SIGTERM');
  };
  return out;
}

const READY = `(() => { if (document.querySelector('[data-chart="ready"]')) return true;
  const chart = document.querySelector('scalar-card line-chart canvas, scalar-card line-chart svg');
  const card = chart && chart.closest('scalar-card'); return !!card && !card.querySelector('mat-spinner'); })()`;
const PLOT = '[data-chart="ready"], line-chart canvas, line-chart svg';

const launch = () =>
  chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: [
      '--disable-gpu',
      '--disable-background-networking',
      '--no-first-run',
      '--disable-extensions',
      '--disable-component-update',
      '--enable-precise-memory-info',
    ],
  });

/** Opens a page in a fresh browser; resolves when the first chart is painted. */
async function load(url, profile = null) {
  const browser = await launch();
  const page = await browser.newPage({
    viewport: {width: 1600, height: 1000},
  });
  page.setDefaultTimeout(300_000);
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('Network.enable');
  await cdp.send('Performance.enable');
  const net = {requests: 0, bytes: 0, at: Date.now(), open: new Set()};
  cdp.on('Network.requestWillBeSent', event => {
    net.requests++;
    if (!/\/events(\?|$)/.test(event.request.url)) net.open.add(event.requestId);
  });
  cdp.on('Network.loadingFinished', event => {
    net.bytes += event.encodedDataLength;
    net.at = Date.now();
    net.open.delete(event.requestId);
  });
  cdp.on('Network.loadingFailed', event => net.open.delete(event.requestId));
  await page.addInitScript(`(() => {
    window.__ready = 0;
    const poll = () => {
      let ok = false; try { ok = ${READY}; } catch { /* not built yet */ }
      if (ok) requestAnimationFrame(() => requestAnimationFrame(() => { window.__ready = performance.now(); }));
      else setTimeout(poll, 10);
    };
    poll();
  })()`);
  await new Promise(resolve => setTimeout(resolve, BROWSER_UP_MS));
  if (profile !== null) {
    await cdp.send('Profiler.enable');
    await cdp.send('Profiler.setSamplingInterval', {interval: 200});
    await cdp.send('Profiler.start');
  }
  await page.goto(url, {waitUntil: 'commit', timeout: 300_000});
  // Asked by the plain protocol: the helper code that waitForFunction brings keeps the page's thread busy for tens of milliseconds.
  let first = 0;
  await waitFor(
    'the first chart',
    async () => (first = (await cdp.send('Runtime.evaluate', {expression: 'window.__ready'})).result.value) > 0,
  );
  if (profile !== null) writeFileSync(profile, JSON.stringify((await cdp.send('Profiler.stop')).profile));
  const until = Date.now() + 120_000;
  // Quiet for a moment; a request that hangs (TensorBoard leaves some open) does not count for long.
  while (Date.now() < until && Date.now() - net.at < (net.open.size > 0 ? 5000 : 1500))
    await new Promise(resolve => setTimeout(resolve, 50));
  const metrics = Object.fromEntries(
    (await cdp.send('Performance.getMetrics')).metrics.map(one => [one.name, one.value]),
  );
  return {
    browser,
    page,
    cdp,
    first,
    requests: net.requests,
    bytes: net.bytes,
    heap: metrics.JSHeapUsedSize / 1e6,
  };
}

/** Hover over the first chart, drag a zoom, wheel in and out. */
async function gestures(page) {
  const box = await page.evaluate(plot => {
    const r = document.querySelector(plot).getBoundingClientRect();
    return [r.x, r.y, r.width, r.height];
  }, PLOT);
  const at = (x, y) => [box[0] + box[2] * x, box[1] + box[3] * y];
  const out = {};
  out.hover = await frames(page, async () => {
    for (let i = 0; i < 120; i++) {
      await page.mouse.move(...at(0.15 + (0.75 * i) / 120, 0.3 + 0.3 * Math.sin(i / 9)));
      await pause(8);
    }
  });
  out.drag = await frames(page, async () => {
    await page.mouse.move(...at(0.3, 0.3));
    await page.mouse.down();
    for (let i = 0; i < 30; i++) {
      await page.mouse.move(...at(0.3 + 0.013 * i, 0.3 + 0.013 * i));
      await pause(12);
    }
    await page.mouse.up();
    await pause(800);
  });
  await page.mouse.dblclick(...at(0.5, 0.5));
  await pause(1500);
  out.wheel = await frames(page, async () => {
    await page.keyboard.down('Alt');
    for (let i = 0; i < 20; i++) {
      await page.mouse.wheel(0, i < 10 ? -20 : 20);
      await pause(30);
    }
    await page.keyboard.up('Alt');
    await pause(800);
  });
  return out;
}

async function firstPart() {
  console.log(
    '\n## First chart\n\n| logs | page | first chart | requests | bytes | JS heap |\n|---|---|---|---|---|---|',
  );
  const all = {
    small: ['small: 5 runs × 10 tags', () => made('small', 'small')],
    many: [`${runs} runs × 20 tags`, () => made('many_runs', `many_runs_${runs}`, '--runs', String(runs))],
  };
  for (const file of sizes) {
    const [label, make] = all[file];
    const logdir = make();
    const servers = await serve(logdir, rival);
    const got = {sonde: [], tensorboard: []};
    for (let round = 0; round < rounds; round++) {
      for (const name of rival ? (round % 2 ? ['tensorboard', 'sonde'] : ['sonde', 'tensorboard']) : ['sonde']) {
        const profile = option('profile', null);
        const {browser, ...one} = await load(
          servers[name],
          name === 'sonde' && profile !== null ? profile.replace(/(\.\w+)?$/, `_${file}$1`) : null,
        );
        await browser.close();
        got[name].push(one);
      }
    }
    servers.stop();
    const middle = (name, key) => median(got[name].map(one => one[key]));
    for (const name of ['sonde', 'tensorboard']) {
      if (got[name].length > 0)
        console.log(
          `| ${label} | ${name === 'sonde' ? 'Sonde' : 'TensorBoard'} | ${ms(middle(name, 'first'))} | ${middle(name, 'requests')} | ${(middle(name, 'bytes') / 1e6).toFixed(3)} MB | ${middle(name, 'heap').toFixed(1)} MB |`,
        );
    }
    if (rival)
      console.log(
        `| ${label} | **ratio** | **${(middle('tensorboard', 'first') / middle('sonde', 'first')).toFixed(1)}×** | ${(middle('tensorboard', 'requests') / middle('sonde', 'requests')).toFixed(1)}× | ${(middle('tensorboard', 'bytes') / middle('sonde', 'bytes')).toFixed(1)}× | ${(middle('tensorboard', 'heap') / middle('sonde', 'heap')).toFixed(1)}× |`,
      );
  }
}

async function framesPart() {
  console.log(
    `\n## Frames with ${runs} runs drawn\n\n| page | gesture | frames | p50 | p95 | worst |\n|---|---|---|---|---|---|`,
  );
  const servers = await serve(made('many_runs', `many_runs_${runs}`, '--runs', String(runs)), rival);
  for (const name of rival ? ['sonde', 'tensorboard'] : ['sonde']) {
    const {browser, page} = await load(servers[name]);
    if (name === 'tensorboard') {
      await page.evaluate(() =>
        document.querySelector('runs-data-table input[type=checkbox], runs-table input[type=checkbox]')?.click(),
      );
      await pause(20_000); // its main thread is blocked for about 12 s
    } else await pause(2000);
    const found = await gestures(page);
    for (const [gesture, one] of Object.entries(found))
      console.log(
        `| ${name === 'sonde' ? 'Sonde' : 'TensorBoard'} | ${gesture} | ${one.n} | ${ms(one.p50)} | ${ms(one.p95)} | ${ms(one.max)} |`,
      );
    await browser.close();
  }
  servers.stop();
}

/** Mouse-up to painted finer data; `data-fine` of the plot names the range whose own data are drawn. */
async function zoomPart() {
  console.log(`\n## Zoom into a series of ${points.toLocaleString('en').replaceAll(',', ' ')} points\n`);
  const servers = await serve(made('ten_million', `one_series_${points}`, '--points', String(points)), false);
  const {browser, page} = await load(servers.sonde);
  await page.evaluate(plot => {
    window.__zoom = {up: 0, painted: 0};
    const host = document.querySelector(plot);
    addEventListener('pointerup', event => (window.__zoom = {up: event.timeStamp, painted: 0}), true);
    new MutationObserver(() => {
      const mine = window.__zoom;
      if (host.dataset.fine && mine.painted === 0)
        requestAnimationFrame(() => setTimeout(() => (mine.painted ||= performance.now())));
    }).observe(host, {attributes: true, attributeFilter: ['data-fine']});
  }, PLOT);
  const times = [];
  for (let i = 0; i < 20; i++) {
    const box = await page.locator(PLOT).first().boundingBox();
    const x = 0.2 + 0.03 * (i % 12);
    await page.mouse.move(box.x + box.width * x, box.y + box.height * 0.5);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * (x + 0.12), box.y + box.height * 0.5, {steps: 3});
    await page.mouse.up();
    await page.waitForFunction(() => window.__zoom.painted > 0, null, {
      polling: 20,
    });
    times.push(await page.evaluate(() => window.__zoom.painted - window.__zoom.up));
    if (i % 4 === 3) {
      await page.mouse.dblclick(box.x + box.width * 0.5, box.y + box.height * 0.4);
      await page.waitForFunction(plot => !document.querySelector(plot).dataset.fine, PLOT, {polling: 20});
    }
    await pause(200);
  }
  console.log(
    `| zooms | p50 | p95 | worst |\n|---|---|---|---|\n| ${times.length} | ${ms(median(times))} | ${ms(quantile(times, 0.95))} | ${ms(Math.max(...times))} |`,
  );
  await browser.close();
  servers.stop();
}

try {
  if (parts.includes('first')) await firstPart();
  if (parts.includes('frames')) await framesPart();
  if (parts.includes('zoom')) await zoomPart();
} finally {
  for (const child of started) child.kill('SIGTERM');
  rmSync(state, {recursive: true, force: true});
}
