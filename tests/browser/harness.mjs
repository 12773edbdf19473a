// Tests of the page in a real browser: start the program on a log directory, use the page as a person
// would, compare the numbers shown with the data. A file `*.browser.mjs` calls test(); run.mjs loads
// them all and prints "N passed, M failed".
import {spawn} from 'node:child_process';
import {existsSync, mkdtempSync, readFileSync, rmSync} from 'node:fs';
import {createRequire} from 'node:module';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../..');
const require = createRequire(join(ROOT, 'web/package.json'));
const {chromium} = require('playwright-core');
const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const PROGRAM = process.env.SONDE_PROGRAM ?? join(ROOT, 'build/release/sonde');

const tests = [];
const cleanups = [];

/** Registers a test. `fn` gets {page, open, check}. */
export function test(name, fn, options = {}) {
  tests.push({name, fn, options});
}

export function temporary() {
  const dir = mkdtempSync(join(tmpdir(), 'sonde-browser-'));
  cleanups.push(() => rmSync(dir, {recursive: true, force: true}));
  return dir;
}

/** The folder of shared test data, or null when it is not on this machine. */
export function shared(path) {
  const full = join(process.env.SONDE_SHARED ?? join(ROOT, '../shared'), path);
  return existsSync(full) ? full : null;
}

const servers = new Map();

/** Starts the program on a directory (once per directory and arguments); resolves to its address. */
export function serve(logdir, args = []) {
  const key = JSON.stringify([logdir, args]);
  if (!servers.has(key)) {
    servers.set(key, new Promise((resolve, reject) => {
      const state = temporary();
      const child = spawn(PROGRAM, ['--logdir', logdir, '--port', '0', '--host', '127.0.0.1', ...args], {env: {...process.env, XDG_STATE_HOME: state, XDG_CACHE_HOME: state}, stdio: ['ignore', 'ignore', 'pipe']});
      let text = '';
      child.stderr.on('data', (chunk) => {
        text += chunk;
        const found = /at (http:\S+)/.exec(text);
        if (found) resolve(found[1]);
      });
      child.on('exit', (code) => reject(new Error(`the program ended with ${code}: ${text}`)));
      cleanups.push(() => child.kill('SIGTERM'));
    }));
  }
  return servers.get(key);
}

export function check(condition, text) {
  if (!condition) throw new Error(text);
}

export function equal(got, wanted, what = '') {
  if (JSON.stringify(got) !== JSON.stringify(wanted)) throw new Error(`${what}: got ${JSON.stringify(got)}, wanted ${JSON.stringify(wanted)}`);
}

export function close(got, wanted, tolerance, what = '') {
  if (!(Math.abs(got - wanted) <= tolerance)) throw new Error(`${what}: got ${got}, wanted ${wanted} ± ${tolerance}`);
}

/** A number as the page writes it, back to a number. */
export function numberOf(text) {
  const plain = text.trim().replaceAll('\u202f', '').replaceAll('\u2212', '-');
  return plain === '∞' ? Infinity : plain === '-∞' ? -Infinity : Number(plain);
}

/** Serious and critical findings of axe; run by evaluate, because the page's CSP forbids script tags. */
export async function axe(page) {
  await page.evaluate(AXE);
  const found = await page.evaluate(() => globalThis.axe.run(document, {resultTypes: ['violations']}));
  return found.violations.filter((one) => one.impact === 'serious' || one.impact === 'critical').map((one) => `${one.id}: ${one.nodes.slice(0, 3).map((node) => node.target.join(' ')).join(' | ')}`);
}

export async function run(filter) {
  if (!existsSync(PROGRAM)) {
    console.log(`skipped: ${PROGRAM} is not built`);
    console.log('0 passed, 0 failed');
    return 0;
  }
  const start = () => chromium.launch({executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium'});
  let browser = await start();
  let passed = 0;
  let failed = 0;
  for (const {name, fn, options} of tests) {
    if (filter && !name.includes(filter)) continue;
    if (!browser.isConnected()) browser = await start(); // one crash must not cost the other tests
    const context = await browser.newContext({viewport: options.viewport ?? {width: 1440, height: 900}, colorScheme: options.dark ? 'dark' : 'light', acceptDownloads: true, permissions: ['clipboard-read', 'clipboard-write']});
    const page = await context.newPage();
    page.setDefaultTimeout(15000);
    const problems = [];
    page.on('console', (message) => message.type() === 'error' && !message.text().startsWith('Failed to load resource') && problems.push(`console: ${message.text()}`));
    page.on('response', (answer) => answer.status() >= 400 && !process.env.SONDE_IGNORE?.split(',').some((path) => answer.url().includes(path)) && problems.push(`${answer.status()} ${answer.url()}`));
    page.on('pageerror', (error) => problems.push(`error: ${error.message}`));
    page.on('request', (request) => {
      const host = new URL(request.url()).hostname;
      if (!['127.0.0.1', 'localhost', ''].includes(host)) problems.push(`a request leaves the machine: ${request.url()}`);
    });
    const open = async (logdir, hash = '', args = []) => {
      await page.goto((await serve(logdir, args)) + hash);
      return page;
    };
    try {
      await fn({page, open, context, problems});
      if (options.console !== false && problems.length > 0) throw new Error(problems.join('\n    '));
      passed++;
      if (process.env.VERBOSE) console.log(`ok ${name}`);
    } catch (error) {
      if (error.message === 'SKIP') {
        if (process.env.VERBOSE) console.log(`skipped ${name}`);
      } else {
        failed++;
        console.log(`FAILED ${name}\n    ${error.message.split('\n').slice(0, 8).join('\n    ')}`);
        if (process.env.SHOTS) await page.screenshot({path: join(process.env.SHOTS, `${name.replace(/\W+/g, '_')}.png`)}).catch(() => {});
      }
    }
    await context.close().catch(() => {});
  }
  await browser.close();
  for (const cleanup of cleanups.reverse()) cleanup();
  console.log(`${passed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}

export function skip() {
  throw new Error('SKIP');
}
