// The browser's half of bench/hparams.py: opens one page and prints its times as JSON.
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const { chromium } = createRequire(join(root, "web/package.json"))(
  "playwright-core",
);
const [which, address, limit] = process.argv.slice(2);
const timeout = Number(limit) * 1000;
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
});
const page = await browser.newPage({
  viewport: { width: 1440, height: 900 },
  bypassCSP: true,
}); // the clock runs inside the page
page.setDefaultTimeout(timeout);
const out = {};

/** Waits inside the page for a condition, looking every frame. */
const until = (condition, argument) =>
  page.waitForFunction(condition, argument, { polling: "raf", timeout });

/** Time from calling `act` in the page to the first frame in which `done` holds; both are texts of functions. */
const timed = (act, done) =>
  page.evaluate(
    ([a, d]) =>
      new Promise((resolve) => {
        const [run, is] = [
          new Function(`return (${a})()`),
          new Function(`return (${d})()`),
        ];
        const start = performance.now();
        run();
        const look = () =>
          is()
            ? setTimeout(() => resolve(performance.now() - start))
            : requestAnimationFrame(look);
        requestAnimationFrame(look);
      }),
    [String(act), String(done)],
  );

try {
  const start = performance.now();
  if (which === "tensorboard") {
    await page.goto(`${address}#hparams`, { waitUntil: "commit" });
    await page
      .locator("vaadin-grid-cell-content, td")
      .filter({ hasText: /trial_|^0\./ })
      .first()
      .waitFor({ state: "attached" });
    out.table_ms = performance.now() - start;
    // Its page asks the server for every change: from the input to the new rows, drawn a frame later.
    const pane = `const find = (root) => root.querySelector('tf-hparams-query-pane') ?? [...root.querySelectorAll('*')].map((one) => one.shadowRoot && find(one.shadowRoot)).find(Boolean); const pane = find(document);`;
    const change = (act) =>
      page.evaluate(`new Promise((resolve, reject) => {${pane}
      const rows = () => pane.sessionGroups.length + ' ' + pane.sessionGroups.slice(0, 20).map((one) => one.name);
      const before = rows();
      const begin = performance.now();
      const late = setTimeout(() => reject(new Error('no new rows')), ${timeout});
      const look = () => (rows() !== before ? (clearTimeout(late), requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - begin)))) : requestAnimationFrame(look));
      ${act}
      requestAnimationFrame(look);
    })`);
    await page.waitForTimeout(1500);
    out.filter_ms = await change(
      `pane.set('_hparams.' + pane._hparams.findIndex((one) => one.info.name === 'lr') + '.filter.interval.max.value', '0.001'); pane._queryServer();`,
    );
    await page.waitForTimeout(1500);
    out.sort_ms = await change(
      `pane._sortByIndex = pane._hparams.findIndex((one) => one.info.name === 'weight_decay'); pane._sortDirection = 0; pane._queryServer();`,
    );
  } else {
    await page.goto(`${address}#hparams`, { waitUntil: "commit" });
    await until(
      () => document.querySelectorAll("main tbody tr[data-row]").length > 10,
    );
    out.table_ms = performance.now() - start;
    await until(
      () =>
        Number(document.querySelector("[data-painted]")?.dataset.painted) > 0,
    );
    out.picture_ms = performance.now() - start;
    await page.evaluate(() => {
      globalThis.longest = 0;
      new PerformanceObserver((list) =>
        list
          .getEntries()
          .forEach(
            (entry) =>
              (globalThis.longest = Math.max(
                globalThis.longest,
                entry.duration,
              )),
          ),
      ).observe({ type: "longtask" });
    });
    const all = await page.locator("[data-shown]").getAttribute("data-shown");
    await page.evaluate((n) => (globalThis.all = n), all);
    out.filter_ms = await timed(
      () => {
        const field = [
          ...document.querySelectorAll('[data-column="hparam:lr"] input'),
        ].at(-1);
        field.value = "0.001";
        field.dispatchEvent(new Event("change", { bubbles: true }));
      },
      () =>
        document.querySelector("[data-shown]").dataset.shown !== globalThis.all,
    );
    await page.waitForTimeout(1500);
    out.sort_ms = await timed(
      () => {
        globalThis.first = document.querySelector("tr[data-row]").dataset.row;
        [...document.querySelectorAll("th .sortb")]
          .find((one) => one.textContent.startsWith("weight_decay"))
          .click();
      },
      () =>
        document.querySelector("tr[data-row]").dataset.row !== globalThis.first,
    );
    await page.waitForTimeout(1500);
    out.longest_ms = await page.evaluate(() => globalThis.longest);
  }
} catch (problem) {
  out.stopped = String(problem).slice(0, 200);
  if (which === "sonde") throw problem;
}
await browser.close();
console.log(JSON.stringify(out));
