// Frames of What-If's scatter with 100 000 points in software rendering: the pointer over it, a lasso, another colour,
// facets. node bench/whatif_page.mjs [ROWS]; wanted: p95 ≤ 50 ms a gesture.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { loadavg, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..");
const { chromium } = createRequire(join(ROOT, "web/package.json"))(
  "playwright-core",
);
const rows = Number(process.argv[2] ?? 100_000);
const folder = mkdtempSync(join(tmpdir(), "sonde-whatif-"));
let seed = 3;
const random = () =>
  (seed = (seed * 1103515245 + 12345) % 2147483648) / 2147483648;
const lines = ["x,y,group,label,score"];
for (let i = 0; i < rows; i++) {
  const score = random();
  lines.push(
    `${(random() + random()).toFixed(4)},${(random() * score).toFixed(4)},${"abcd"[i % 4]},${Number(random() < score)},${score.toFixed(4)}`,
  );
}
writeFileSync(join(folder, "d.csv"), lines.join("\n"));
writeFileSync(
  join(folder, "whatif.json"),
  JSON.stringify({
    data: "d.csv",
    label: "label",
    max_examples: rows,
    models: [{ name: "m", columns: ["score"] }],
  }),
);
const program = spawn(
  process.env.SONDE_BINARY ?? join(ROOT, "build/release/sonde"),
  ["--logdir", folder, "--port", "0", "--host", "127.0.0.1"],
  {
    env: { ...process.env, XDG_STATE_HOME: folder, XDG_CACHE_HOME: folder },
    stdio: ["ignore", "ignore", "pipe"],
  },
);
const address = await new Promise((resolve) => {
  let text = "";
  program.stderr.on("data", (part) => {
    text += part;
    const found = /at (http:\S+)/.exec(text);
    if (found) resolve(found[1]);
  });
});
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--disable-gpu"],
});
const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
await page.goto(`${address}#whatif`);
await page.locator(`[data-points="${rows}"]`).waitFor({ timeout: 60_000 });
const box = await page.locator("[data-points] canvas").first().boundingBox();
const at = (fx, fy) => [box.x + box.width * fx, box.y + box.height * fy];

/** Frame times and the page's own work while something is done. */
async function frames(name, work) {
  await page.evaluate(() => {
    const seen = { frames: [], tasks: [], stop: false };
    let last = performance.now();
    const tick = (now) => {
      seen.frames.push(now - last);
      last = now;
      if (!seen.stop) requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
    seen.watch = new PerformanceObserver((list) =>
      seen.tasks.push(...list.getEntries().map((one) => one.duration)),
    );
    seen.watch.observe({ entryTypes: ["longtask"] });
    globalThis.seen = seen;
  });
  await work();
  const { list, tasks } = await page.evaluate(() => {
    globalThis.seen.stop = true;
    globalThis.seen.watch.disconnect();
    return {
      list: globalThis.seen.frames.slice(1),
      tasks: globalThis.seen.tasks,
    };
  });
  list.sort((a, b) => a - b);
  const of = (share) =>
    list[Math.min(list.length - 1, Math.floor(list.length * share))].toFixed(1);
  console.log(
    `${name.padEnd(28)}${String(list.length).padStart(6)} frames  p50 ${of(0.5).padStart(6)}  p95 ${of(0.95).padStart(6)}  max ${of(1).padStart(6)} ms  long tasks ${tasks.length}${Number(of(0.95)) > 50 ? "  missed" : ""}`,
  );
}
console.log(
  `${rows} points, software rendering, load of the machine ${loadavg()[0].toFixed(1)}`,
);
await frames("pointer over the points", async () => {
  for (let i = 0; i < 150; i++)
    await page.mouse.move(
      ...at(0.2 + 0.6 * (i / 150), 0.3 + 0.3 * Math.sin(i / 9)),
    );
});
await frames("lasso", async () => {
  await page.mouse.move(...at(0.2, 0.2));
  await page.mouse.down();
  for (let i = 0; i <= 120; i++)
    await page.mouse.move(
      ...at(
        0.5 + 0.3 * Math.cos((i / 120) * 6.28),
        0.5 + 0.3 * Math.sin((i / 120) * 6.28),
      ),
    );
  await page.mouse.up();
});
await page.getByText(/selected$/).waitFor();
await frames("arrow keys, row by row", async () => {
  await page.locator("[data-points] [role=application]").focus();
  for (let i = 0; i < 60; i++) await page.keyboard.press("ArrowRight");
});
await frames("another colour, six times", async () => {
  for (const name of ["x", "group", "y", "Score", "label", "Correct"]) {
    await page
      .getByRole("button", { name: /^Colour/ })
      .or(page.getByRole("combobox", { name: /^Colour/ }))
      .first()
      .click();
    await page.getByRole("option", { name, exact: true }).click();
    await page.waitForTimeout(300);
  }
});
await browser.close();
program.kill("SIGTERM");
rmSync(folder, { recursive: true, force: true });
