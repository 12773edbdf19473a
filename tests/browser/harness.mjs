// Tests of the page in a real browser: start the program on a log directory, use the page as a person
// would, compare the numbers shown with the data. A file `*.browser.mjs` calls test(); run.mjs loads
// them all and prints "N passed, M failed". Two tests run at a time. Nothing here sleeps: a test waits
// for what it wants to see (eventually, settled), so a slow machine only makes it slower.
import { spawn } from "node:child_process";
import {
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), "../..");
const require = createRequire(join(ROOT, "web/package.json"));
const { chromium } = require("playwright-core");
const AXE = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const PROGRAM = process.env.SONDE_BINARY ?? join(ROOT, "build/release/sonde");

const PATIENCE_MS = Number(process.env.PATIENCE_MS ?? 60_000); // a condition that has not come true by then never will

const tests = [];
const cleanups = [];
let file = "";

/** Says which file the next tests are from, so that its name selects them. */
export function from(name) {
  file = name;
}

/** Registers a test. `fn` gets {page, open, check}. */
export function test(name, fn, options = {}) {
  tests.push({ name, fn, options, file });
}

export function temporary() {
  const dir = mkdtempSync(join(tmpdir(), "sonde-browser-"));
  cleanups.push(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** The folder of shared test data, or null when it is not on this machine. */
export function shared(path) {
  const full = join(process.env.SONDE_SHARED ?? join(ROOT, "../shared"), path);
  return existsSync(full) ? full : null;
}

/** A recorded log directory: the copy in the tree, or the larger one beside it; skips when there is none. */
export function corpus(name) {
  const own = join(ROOT, "tests/data/corpus", name);
  return existsSync(own) ? own : (shared(`corpus/${name}`) ?? skip());
}

const servers = new Map();

async function whenRead(address) {
  await eventually(
    async () =>
      "partial" in
      (await (await fetch(`${address.replace(/\/$/, "")}/api/v1/info`)).json()),
    false,
    "files that are not read",
  );
  return address;
}

/** Starts the program on a directory (once per directory and arguments); resolves to its address when everything is read. */
export function serve(logdir, args = []) {
  const key = JSON.stringify([logdir, args]);
  if (!servers.has(key)) {
    servers.set(
      key,
      new Promise((resolve, reject) => {
        const state = temporary();
        const child = spawn(
          PROGRAM,
          ["--logdir", logdir, "--port", "0", "--host", "127.0.0.1", ...args],
          {
            env: {
              ...process.env,
              XDG_STATE_HOME: state,
              XDG_CACHE_HOME: state,
            },
            stdio: ["ignore", "ignore", "pipe"],
          },
        );
        let text = "";
        child.stderr.on("data", (chunk) => {
          text += chunk;
          const found = /at (http:\S+)/.exec(text);
          if (found) resolve(whenRead(found[1]));
        });
        child.on("exit", (code) =>
          reject(new Error(`the program ended with ${code}: ${text}`)),
        );
        cleanups.push(() => child.kill("SIGTERM"));
      }),
    );
  }
  return servers.get(key);
}

export function check(condition, text) {
  if (!condition) throw new Error(text);
}

export function equal(got, wanted, what = "") {
  if (JSON.stringify(got) !== JSON.stringify(wanted))
    throw new Error(
      `${what}: got ${JSON.stringify(got)}, wanted ${JSON.stringify(wanted)}`,
    );
}

export function close(got, wanted, tolerance, what = "") {
  if (!(Math.abs(got - wanted) <= tolerance))
    throw new Error(`${what}: got ${got}, wanted ${wanted} ± ${tolerance}`);
}

/** Waits until `look` gives `wanted` (compared as JSON), or until it is true when nothing is wanted. */
export async function eventually(look, wanted = true, what = "") {
  const end = Date.now() + PATIENCE_MS;
  for (let pause = 20; ; pause = Math.min(250, pause * 1.5)) {
    let got;
    try {
      got = await look();
      if (JSON.stringify(got) === JSON.stringify(wanted)) return got;
    } catch (error) {
      got = error.message;
    }
    if (Date.now() > end)
      throw new Error(
        `${what}: got ${JSON.stringify(got)}, wanted ${JSON.stringify(wanted)}`,
      );
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

/** Repeats checks that throw until they pass: for numbers that follow the pointer a frame later. */
export async function passes(checks) {
  let last;
  await eventually(async () => {
    try {
      await checks();
      return true;
    } catch (error) {
      last = error.message;
      return false;
    }
  }).catch(() => {
    throw new Error(last);
  });
}

const inFlight = new WeakMap();

/** Nothing is on its way from the server and two frames have been painted since. */
export async function settled(page) {
  const waiting = inFlight.get(page);
  await eventually(
    async () => {
      if (waiting.size > 0) return false;
      await page.evaluate(
        () =>
          new Promise((done) =>
            requestAnimationFrame(() =>
              requestAnimationFrame(() => setTimeout(done)),
            ),
          ),
      );
      return waiting.size === 0;
    },
    true,
    "requests on their way",
  );
}

/** A number as the page writes it, back to a number. */
export function numberOf(text) {
  const plain = text.trim().replaceAll("\u202f", "").replaceAll("\u2212", "-");
  return plain === "∞" ? Infinity : plain === "-∞" ? -Infinity : Number(plain);
}

/** Findings of axe, serious and critical ones unless `all`; run by evaluate, because the page's CSP forbids script tags. */
export async function axe(page, all = false) {
  await page.evaluate(AXE);
  const found = await page.evaluate(() =>
    globalThis.axe.run(document, { resultTypes: ["violations"] }),
  );
  return found.violations
    .filter(
      (one) => all || one.impact === "serious" || one.impact === "critical",
    )
    .map(
      (one) =>
        `${one.id}: ${one.nodes
          .slice(0, 3)
          .map((node) => node.target.join(" "))
          .join(" | ")}`,
    );
}

/** Counts what is on its way; the event stream never ends and does not count. */
function watch(page) {
  const waiting = new Set();
  inFlight.set(page, waiting);
  page.on(
    "request",
    (request) => /\/events(\?|$)/.test(request.url()) || waiting.add(request),
  );
  for (const end of ["requestfinished", "requestfailed"])
    page.on(end, (request) => waiting.delete(request));
}

async function runOne(browser, { fn, options }) {
  const context = await browser.newContext({
    viewport: options.viewport ?? { width: 1440, height: 900 },
    colorScheme: options.dark ? "dark" : "light",
    acceptDownloads: true,
    permissions: ["clipboard-read", "clipboard-write"],
    ...(options.context ?? {}),
  });
  const problems = [];
  context.on("page", (page) => {
    page.setDefaultTimeout(PATIENCE_MS);
    watch(page);
    page.on(
      "console",
      (message) =>
        message.type() === "error" &&
        !message.text().startsWith("Failed to load resource") &&
        problems.push(`console: ${message.text()}`),
    );
    page.on(
      "response",
      (answer) =>
        answer.status() >= 400 &&
        problems.push(`${answer.status()} ${answer.url()}`),
    );
    page.on("pageerror", (error) => problems.push(`error: ${error.message}`));
    page.on("request", (request) => {
      const host = new URL(request.url()).hostname;
      if (!["127.0.0.1", "localhost", ""].includes(host))
        problems.push(`a request leaves the machine: ${request.url()}`);
    });
  });
  const page = await context.newPage();
  const open = async (logdir, hash = "", args = []) => {
    const address = await serve(logdir, args);
    if (page.url() !== "about:blank") await page.goto("about:blank"); // a link alone would only move the page that is open
    await page.goto(address + hash);
    return page;
  };
  try {
    await fn({ page, open, context, problems });
    if (options.console !== false && problems.length > 0)
      throw new Error(problems.join("\n    "));
  } catch (error) {
    if (process.env.SHOTS && !(error instanceof Skipped))
      error.shot = await page.screenshot().catch(() => null);
    throw error;
  } finally {
    await context.close().catch(() => {});
  }
}

const MOST_SECOND_TRIES = 5; // more is no bad luck

/** Runs the tests whose name or file contains `filter`; WORKERS says how many at a time (2). */
export async function run(filter) {
  if (!existsSync(PROGRAM)) throw new Error(`${PROGRAM} is not built`);
  const start = () =>
    chromium.launch({
      executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
      timeout: PATIENCE_MS,
    });
  const queue = tests.filter(
    (one) => !filter || one.name.includes(filter) || one.file.includes(filter),
  );
  let [passed, failed] = [0, 0];
  const skipped = new Map(); // why -> how many
  // Tests share two cores and a browser each: one that failed is tried once more when all others have ended, by itself, and
  // the report says so. What is broken fails again; what was only starved does not hide it.
  const unlucky = [];
  let mayTryAgain = true;
  function report(one, error) {
    failed++;
    console.log(
      `FAILED ${one.file}: ${one.name}\n    ${error.message.split("\n").slice(0, 8).join("\n    ")}`,
    );
    if (error.shot)
      writeFileSync(
        join(process.env.SHOTS, `${one.name.replace(/\W+/g, "_")}.png`),
        error.shot,
      );
  }
  async function work() {
    let browser = await start(); // one a worker: clipboard and focus belong to a browser
    for (let one = queue.shift(); one !== undefined; one = queue.shift()) {
      if (!browser.isConnected()) browser = await start(); // one crash must not cost the other tests
      const began = Date.now();
      try {
        await runOne(browser, one);
        passed++;
        if (one.error)
          console.log(
            `second try: ${one.file}: ${one.name}; at first: ${one.error.message.split("\n")[0]}`,
          );
        if (process.env.VERBOSE)
          console.log(
            `ok ${((Date.now() - began) / 1000).toFixed(1)} s  ${one.name}`,
          );
      } catch (error) {
        if (error instanceof Skipped) {
          skipped.set(error.message, (skipped.get(error.message) ?? 0) + 1);
          if (process.env.VERBOSE) console.log(`left out: ${one.name}`);
          continue;
        }
        if (mayTryAgain) unlucky.push({ ...one, error });
        else report(one, error);
      }
    }
    await browser.close();
  }
  await Promise.all(
    Array.from({ length: Number(process.env.WORKERS ?? 2) }, work),
  );
  mayTryAgain = false;
  if (unlucky.length > MOST_SECOND_TRIES) {
    for (const { error, ...one } of unlucky) report(one, error);
  } else if (unlucky.length > 0) {
    queue.push(...unlucky);
    await work();
  }
  for (const cleanup of cleanups.reverse()) cleanup();
  let left = 0;
  for (const [why, times] of skipped) {
    console.log(`skipped: [${times}] ${why}`);
    left += times;
  }
  console.log(`${passed} passed, ${failed} failed, ${left} skipped`);
  return failed === 0 ? 0 : 1;
}

class Skipped extends Error {}

/** Leaves the test out, and says why: a test that did not run is not a test that passed. */
export function skip(why = "recorded logs of other people (../shared) are not on this machine") {
  throw new Skipped(why);
}
