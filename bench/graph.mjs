// The browser's half of bench/graph.py: opens one graph page, expands scopes, prints the times as JSON.
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
const out = { first_ms: null, open_ms: [], failed: 0 };
const SCOPES = ["encoder", ...[0, 1, 2, 3, 4].map((i) => `encoder/layer_${i}`)];
const INSIDE = (scope) =>
  scope === "encoder" ? "encoder/layer_0" : `${scope}/attention`;

// How each page names a box: Sonde by data-name, TensorBoard by data-name on g.node inside shadow roots.
const deep = `
  const all = (root, selector, found = []) => {
    root.querySelectorAll(selector).forEach((one) => found.push(one));
    root.querySelectorAll('*').forEach((one) => one.shadowRoot && all(one.shadowRoot, selector, found));
    return found;
  };
  const box = (name) => all(document, 'g.node, g.meta').find((one) => one.getAttribute('data-name') === name);`;

try {
  const start = performance.now();
  await page.goto(`${address}#graphs`, { waitUntil: "commit" });
  await page.waitForFunction(
    `(() => {${deep} return box('encoder') !== undefined; })()`,
    undefined,
    { polling: 50, timeout },
  );
  out.first_ms = performance.now() - start;
  for (const scope of SCOPES) {
    // The page opens a single scope by itself: what is open already is not timed.
    const took = await page.evaluate(`new Promise((resolve) => {${deep}
      const [scope, inside, end] = [${JSON.stringify(scope)}, ${JSON.stringify(INSIDE(scope))}, performance.now() + ${timeout}];
      if (box(inside) !== undefined) return resolve(-1);
      const target = box(scope);
      if (target === undefined) return resolve(-2);
      const begin = performance.now();
      const hit = target.querySelector('.nodeshape, .body, rect') ?? target;
      hit.dispatchEvent(new MouseEvent('dblclick', {bubbles: true, composed: true}));
      const look = () => (box(inside) !== undefined ? setTimeout(() => resolve(performance.now() - begin)) : performance.now() > end ? resolve(-3) : requestAnimationFrame(look));
      requestAnimationFrame(look);
    })`);
    if (took >= 0) out.open_ms.push(took);
    else if (took < -1) out.failed++;
    if (scope === "encoder" || took < 0) continue;
    // Closed again, not timed, so that the next layer is where it was.
    await page.evaluate(
      `(() => {${deep} const target = box(${JSON.stringify(scope)}); (target.querySelector('.nodeshape rect, .head, rect') ?? target).dispatchEvent(new MouseEvent('dblclick', {bubbles: true, composed: true})); })()`,
    );
    await page.waitForFunction(
      `(() => {${deep} return box(${JSON.stringify(INSIDE(scope))}) === undefined; })()`,
      undefined,
      { polling: 50, timeout },
    );
  }
} catch (problem) {
  out.problem = String(problem).slice(0, 200);
  if (which === "sonde") throw problem;
}
await browser.close();
console.log(JSON.stringify(out));
