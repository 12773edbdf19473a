// How smoothly a page of many panels moves, and how long a query over many runs takes. No rival: TensorBoard has
// neither.
//
//   node bench/panels.mjs [--parts query,frames] [--panels 40] [--runs 100] [--points 200]
//
// query   the run table's query over 10 000 runs × 200 columns: reading the text and asking every run, as the page
//         does with every key that is typed (in Node, no page around it); median and slowest of 30
// frames  a page of --panels charts with --runs runs each, --points points a series, headless Chromium with software
//         rendering: frame times while the page scrolls, the pointer moves over a chart, a drag zooms all of them and
//         the wheel zooms
//
// Prints Markdown tables; wanted: query ≤ 50 ms, p95 of the frames ≤ 50 ms.
import {spawn} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync} from 'node:fs';
import {createRequire} from 'node:module';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {writeRun} from '../tests/browser/events.mjs';
import {frames, median, pause} from './frames.mjs';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
const require = createRequire(join(ROOT, 'web/package.json'));
const words = process.argv.slice(2);
const option = (name, normal) => (words.includes(`--${name}`) ? words[words.indexOf(`--${name}`) + 1] : normal);
const parts = option('parts', 'query,frames').split(',');
const panels = Number(option('panels', 40));
const runs = Number(option('runs', 100));
const points = Number(option('points', 200));

async function queryModule() {
  const ts = require('typescript');
  const text = readFileSync(join(ROOT, 'web/src/state/run-query.ts'), 'utf8');
  const {outputText} = ts.transpileModule(text, {
    compilerOptions: {module: 'ESNext', target: 'ES2022'},
  });
  return import(`data:text/javascript;base64,${Buffer.from(outputText).toString('base64')}`);
}

async function queryPart() {
  const {parseQuery} = await queryModule();
  const [count, columns] = [10_000, 200];
  const cells = new Map();
  let seed = 1;
  const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
  for (let c = 0; c < columns; c++)
    cells.set(
      `c${c}`,
      new Map(Array.from({length: count}, (_, run) => [run, c % 10 === 0 ? ['adam', 'sgd'][run % 2] : random()])),
    );
  const questions = {
    'two values': 'c1 > 0.5 and c2 < 0.3',
    'text and a regular expression': 'c0 = adam and not c10 ~ ^sg',
    'every one of the 200 columns': Array.from(cells.keys(), (name, c) =>
      c % 10 === 0 ? `${name} != none` : `${name} > 0.0001`,
    ).join(' and '),
  };
  console.log(
    `\n## Query over ${count} runs × ${columns} columns\n\n| query | runs found | median | slowest of 30 | wanted |\n|---|--:|--:|--:|--:|`,
  );
  for (const [name, text] of Object.entries(questions)) {
    const times = [];
    let found = 0;
    for (let i = 0; i < 30; i++) {
      const began = performance.now();
      const query = parseQuery(text, column => (cells.has(column) ? column : null));
      found = 0;
      for (let run = 0; run < count; run++) if (query.test(column => cells.get(column).get(run) ?? null)) found++;
      times.push(performance.now() - began);
    }
    console.log(
      `| ${name} | ${found} | ${median(times).toFixed(1)} ms | ${Math.max(...times).toFixed(1)} ms | ≤ 50 ms |`,
    );
  }
}

function startProgram(logdir) {
  const state = mkdtempSync(join(tmpdir(), 'sonde-panels-state-'));
  const program = spawn(
    process.env.SONDE_PROGRAM ?? join(ROOT, 'build/release/sonde'),
    ['--logdir', logdir, '--port', '0', '--host', '127.0.0.1'],
    {
      env: {...process.env, XDG_STATE_HOME: state, XDG_CACHE_HOME: state},
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  const address = new Promise((resolve, reject) => {
    let text = '';
    program.stderr.on('data', chunk => {
      text += chunk;
      const found = /at (http:\S+)/.exec(text);
      if (found) resolve(found[1].replace(/\/$/, ''));
    });
    program.on('exit', code => reject(new Error(`the program ended with ${code}: ${text}`)));
  });
  const stop = () => {
    program.removeAllListeners('exit');
    program.kill('SIGTERM');
    rmSync(state, {recursive: true, force: true});
  };
  return {address, stop};
}

async function makePage(address) {
  for (;;) {
    const info = await (await fetch(`${address}/api/v1/info`)).json();
    const {runs: all} = await (await fetch(`${address}/api/v1/runs`)).json();
    if (!info.loading && all.length >= runs) break;
    await pause(100);
  }
  const list = Array.from({length: panels}, (_, i) => ({
    id: `p${i}`,
    kind: 'line',
    w: 4,
    h: 10,
    y: [`tag_${i}`],
  }));
  const answer = await fetch(`${address}/api/v1/sidecar`, {
    method: 'PATCH',
    headers: {'Content-Type': 'application/json', 'Sonde-Request': '1'},
    body: JSON.stringify({
      pages: {bench: {title: 'Bench', order: 0, panels: list, runs: null, settings: {}}},
    }),
  });
  if (!answer.ok) throw new Error(await answer.text());
}

async function gestures(page) {
  const out = {};
  out.scroll = await frames(page, async () => {
    await page.mouse.move(700, 500);
    for (let i = 0; i < 60; i++) {
      await page.mouse.wheel(0, i < 40 ? 120 : -240);
      await pause(25);
    }
    await pause(500);
  });
  const box = await page.locator('[data-panel] [data-chart=ready]').first().boundingBox();
  const at = (x, y) => [box.x + box.width * x, box.y + box.height * y];
  out.hover = await frames(page, async () => {
    for (let i = 0; i < 120; i++) {
      await page.mouse.move(...at(0.15 + (0.75 * i) / 120, 0.3 + 0.3 * Math.sin(i / 9)));
      await pause(8);
    }
  });
  out['drag, all zoom'] = await frames(page, async () => {
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
  out['wheel, all zoom'] = await frames(page, async () => {
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

async function framesPart() {
  const logdir = mkdtempSync(join(tmpdir(), 'sonde-panels-'));
  for (let run = 0; run < runs; run++)
    writeRun(
      logdir,
      `run_${run}`,
      Array.from({length: points}, (_, i) => [
        i,
        Object.fromEntries(
          Array.from({length: panels}, (__, tag) => [
            `tag_${tag}`,
            Math.exp((-i * (1 + (run % 7))) / points) + 0.1 * Math.sin(i * (tag + 1) + run),
          ]),
        ),
      ]),
      1.7e9 + run,
    );
  const {address, stop} = startProgram(logdir);
  const {chromium} = require('playwright-core');
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  });
  try {
    const base = await address;
    await makePage(base);
    const page = await browser.newPage({viewport: {width: 1440, height: 900}});
    await page.goto(`${base}/#panels`);
    await page.locator('[data-panel] [data-chart=ready]').first().waitFor();
    await pause(3000);
    console.log(
      `\n## Frames: ${panels} panels × ${runs} runs × ${points} points\n\n| gesture | frames | p50 | p95 | worst | wanted p95 |\n|---|--:|--:|--:|--:|--:|`,
    );
    for (const [name, one] of Object.entries(await gestures(page)))
      console.log(
        `| ${name} | ${one.n} | ${one.p50.toFixed(1)} ms | ${one.p95.toFixed(1)} ms | ${one.max.toFixed(0)} ms | ≤ 50 ms |`,
      );
  } finally {
    await browser.close();
    stop();
    rmSync(logdir, {recursive: true, force: true});
  }
}

if (parts.includes('query')) await queryPart();
if (parts.includes('frames')) await framesPart();
process.exit(0);
