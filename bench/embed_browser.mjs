// Drives TensorBoard's own projector page in headless Chromium and times its t-SNE or UMAP:
//   node bench/embed_browser.mjs ADDRESS tsne|umap ROUNDS CAP_SECONDS
// Prints one JSON line: {kind, iterations, seconds, load_s, ended}. t-SNE of the page never ends by itself: it is
// stopped at ROUNDS iterations; a run that reaches CAP_SECONDS first is reported with the iterations it got to.
// Seconds count from the click that starts the projection, neighbours included.
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const { chromium } = createRequire(join(root, "web/package.json"))(
  "playwright-core",
);
const [address, kind, rounds, cap] = [
  process.argv[2],
  process.argv[3],
  Number(process.argv[4]),
  Number(process.argv[5]),
];

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--enable-unsafe-swiftshader"],
});
const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
page.setDefaultTimeout(120_000);
const began = Date.now();
await page.goto(`${address}#projector`);
let frame;
while (frame === undefined && Date.now() - began < 120_000) {
  for (const one of page.frames())
    if (
      (await one
        .locator(".ink-tab[data-tab=pca]")
        .count()
        .catch(() => 0)) > 0
    )
      frame = one;
  await page.waitForTimeout(100);
}
if (frame === undefined) throw new Error("the projector did not come up");
// The data are there when the PCA has been computed and its share of the variance is shown.
await frame.waitForFunction(
  () => {
    const inside = (node) => [
      node,
      ...(node.shadowRoot ? inside(node.shadowRoot) : []),
      ...[...node.querySelectorAll("*")]
        .filter((n) => n.shadowRoot)
        .flatMap((n) => inside(n.shadowRoot)),
    ];
    return inside(document).some((node) =>
      /[\d.]+%/.test(
        node.querySelector?.("#total-variance")?.textContent ?? "",
      ),
    );
  },
  null,
  { timeout: cap * 1000, polling: 500 },
);
const load = (Date.now() - began) / 1000;

let iterations = 0;
let ended = false;
const start = Date.now();
const seconds = () => (Date.now() - start) / 1000;
await frame.locator(`.ink-tab[data-tab=${kind}]`).click();
if (kind === "tsne") {
  const counter = frame.locator(".run-tsne-iter");
  while (seconds() < cap && iterations < rounds) {
    iterations =
      Number(
        (await counter.textContent({ timeout: cap * 1000 }).catch(() => "0")) ??
          0,
      ) || 0;
    await new Promise((done) => setTimeout(done, 100));
  }
  ended = iterations >= rounds;
} else {
  await frame.locator("#run-umap").click();
  // While it works the button is disabled or a dialog stands; after it the button can be pressed again.
  await page.waitForTimeout(500);
  while (seconds() < cap && !ended) {
    ended = await frame
      .evaluate(() => {
        const inside = (node) => [
          node,
          ...[...node.querySelectorAll("*")]
            .filter((n) => n.shadowRoot)
            .flatMap((n) => inside(n.shadowRoot)),
        ];
        const roots = inside(document);
        const button = roots
          .map((r) => r.querySelector("#run-umap"))
          .find(Boolean);
        const busy = roots.some((r) =>
          [
            ...r.querySelectorAll(
              ".notify-msg, #notification-dialog, paper-dialog",
            ),
          ].some(
            (n) =>
              n.offsetParent !== null &&
              /UMAP|nearest|epoch|optimiz/i.test(n.textContent ?? ""),
          ),
        );
        return (
          Boolean(button) &&
          !button.disabled &&
          !busy &&
          !/running/i.test(button.textContent ?? "")
        );
      })
      .catch(() => false);
    await new Promise((done) => setTimeout(done, 100));
  }
}
console.log(
  JSON.stringify({
    kind,
    iterations,
    seconds: Math.round(seconds() * 10) / 10,
    load_s: Math.round(load * 10) / 10,
    ended,
  }),
);
await browser.close();
