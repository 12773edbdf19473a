// Opens a trace viewer in headless Chromium and measures it: node trace_page.mjs URL [seconds [patience]]. Called by
// trace_page.py for Sonde's page and for xprof's; both are measured by the same means. Prints one line of JSON.
//
// picture_ms: from the start of the navigation until a canvas (or several) shows coloured slices. p95_ms: of the
// times between frames while W, S, A and D are held in turn. largest_kb: the largest answer before compression that
// carried slices. heap_mb: the page's JavaScript heap at the end, after a collection.
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const require = createRequire(
  join(dirname(fileURLToPath(import.meta.url)), "../web/package.json"),
);
const { chromium } = require("playwright-core");
const [url, seconds = "4", patience = "300"] = process.argv.slice(2); // both in seconds
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--disable-gpu", "--enable-precise-memory-info"],
});
const page = await browser.newPage({ viewport: { width: 1600, height: 900 } });
let largest = 0;
const bodies = [];
page.on("response", (answer) => {
  if (
    !/trace\/view|trace_viewer|tag=trace/.test(answer.url()) ||
    /\.(js|html|css)(\?|$)/.test(answer.url())
  )
    return;
  bodies.push(
    answer
      .body()
      .then((body) => (largest = Math.max(largest, body.length)))
      .catch(() => {}),
  );
});
// Saturated pixels in any canvas: names and grid are grey, slices are not. The page looks at itself, by its own clock
// and with the functions it began with: the polyfills of xprof's page wrap every element and break what playwright
// would wait with; the real elements lie in the real document.
await page.addInitScript(() => {
  const query = Document.prototype.querySelectorAll;
  const real = document;
  const small = new OffscreenCanvas(160, 90);
  const pen = small.getContext("2d", { willReadFrequently: true });
  const frame = globalThis.requestAnimationFrame.bind(globalThis);
  const isColoured = (canvas) => {
    if (canvas.width < 300 || canvas.height < 80) return false;
    pen.clearRect(0, 0, 160, 90);
    try {
      pen.drawImage(canvas, 0, 0, 160, 90);
    } catch {
      return false;
    }
    const { data } = pen.getImageData(0, 0, 160, 90);
    let count = 0;
    for (let i = 0; i < data.length; i += 4)
      if (
        data[i + 3] > 40 &&
        Math.max(data[i], data[i + 1], data[i + 2]) -
          Math.min(data[i], data[i + 1], data[i + 2]) >
          28
      )
        count++;
    return count > 60;
  };
  globalThis.picture_ = null;
  let looked = 0;
  const look = (now) => {
    if (now - looked > 30) {
      looked = now;
      const all = query.call(real, "canvas");
      for (let i = 0; i < all.length; i++)
        if (isColoured(all[i]))
          return void (globalThis.picture_ = performance.now());
    }
    frame(look);
  };
  frame(look);
  globalThis.watchFrames = () => {
    globalThis.frames_ = [];
    let last = 0;
    const tick = (now) => {
      if (last > 0) globalThis.frames_.push(now - last);
      last = now;
      frame(tick);
    };
    frame(tick);
  };
});
const PATIENCE_MS = Number(patience) * 1000;
await page.goto(url, { waitUntil: "commit", timeout: 120000 });
let picture = null;
for (
  const end = Date.now() + PATIENCE_MS;
  picture === null && Date.now() < end;
) {
  await page.waitForTimeout(50);
  picture = await page.evaluate(() => globalThis.picture_).catch(() => null);
}
if (picture === null) {
  if (process.env.SHOT) await page.screenshot({ path: process.env.SHOT });
  await browser.close();
  console.error(`no picture within ${patience} s`);
  process.exit(1);
}
await page.waitForTimeout(1500);
// The pointer over the lanes gives them the keys, in both pages.
await page.mouse.click(1000, 420);
await page.keyboard.press("Escape");
await page.evaluate(() => globalThis.watchFrames());
const end = Date.now() + Number(seconds) * 1000;
const KEYS = [
  "w",
  "w",
  "d",
  "d",
  "w",
  "a",
  "a",
  "s",
  "d",
  "w",
  "s",
  "s",
  "a",
  "s",
];
for (let i = 0; Date.now() < end; i++) {
  for (let held = 0; held < 6 && Date.now() < end; held++) {
    await page.keyboard.press(KEYS[i % KEYS.length]);
    await page.waitForTimeout(25);
  }
}
const frames = (await page.evaluate(() => globalThis.frames_))
  .slice(1)
  .sort((a, b) => a - b);
await Promise.all(bodies);
const cdp = await page.context().newCDPSession(page);
await cdp.send("HeapProfiler.enable");
await cdp.send("HeapProfiler.collectGarbage");
await cdp.send("Performance.enable");
const metrics = (await cdp.send("Performance.getMetrics")).metrics;
const heap = metrics.find((one) => one.name === "JSHeapUsedSize").value;
console.log(
  JSON.stringify({
    picture_ms: picture,
    frames: frames.length,
    p50_ms: frames[Math.floor(frames.length * 0.5)],
    p95_ms: frames[Math.floor(frames.length * 0.95)],
    max_ms: frames[frames.length - 1],
    largest_kb: largest / 1000,
    heap_mb: heap / 1e6,
  }),
);
if (process.env.SHOT) await page.screenshot({ path: process.env.SHOT });
await browser.close();
