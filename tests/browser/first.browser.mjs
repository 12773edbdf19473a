// The first chart stands before the shell does: same place, same pixels, and gone when the shell has drawn it.
import { check, equal, eventually, test } from "./harness.mjs";
import { logdir } from "./known.mjs";

const SHELL = /\/assets\/shell-[^/]*\.js$/;
const FIRST = ".first [data-chart=ready]";
const OWN = "#app [data-card] [data-chart=ready]";

/** Keeps the shell's file back; the function that lets it go. */
async function withoutShell(page) {
  let release;
  const released = new Promise((resolve) => (release = resolve));
  await page.route(SHELL, async (route) => {
    await released;
    await route.continue();
  });
  return release;
}

/** Where the chart of a selector stands, its words and the pixels of its data. */
const pictureOf = (page, selector) =>
  page
    .locator(selector)
    .first()
    .evaluate((plot) => {
      const { x, y, width, height } = plot.getBoundingClientRect();
      const card = plot.closest(".card");
      return {
        x,
        y,
        width,
        height,
        title: card.querySelector("h3").textContent,
        state: card.querySelector(".u").textContent,
        pixels: plot.querySelector("canvas").toDataURL(),
      };
    });

for (const { viewport, dark } of [
  { viewport: { width: 1440, height: 900 }, dark: true },
  { viewport: { width: 1024, height: 768 }, dark: false },
  { viewport: { width: 800, height: 600 }, dark: true },
]) {
  test(
    `the first chart is the shell's own to the pixel, ${viewport.width} wide`,
    async ({ page, open }) => {
      const release = await withoutShell(page);
      await open(logdir());
      await page.locator(FIRST).waitFor();
      const before = await pictureOf(page, FIRST);
      check(new Set(before.pixels.slice(30)).size > 20, "curves");
      equal(await page.locator(".hdr .brand").count(), 0, "no shell yet");
      release();
      await page.locator(OWN).first().waitFor();
      await eventually(
        () => page.locator(".first").count(),
        0,
        "what stood in is gone",
      );
      equal(await pictureOf(page, OWN), before, "the same picture");
    },
    { viewport, dark },
  );
}

const link = (slices) =>
  `#timeseries&v=1.${Buffer.from(JSON.stringify(slices)).toString("base64url")}`;
for (const [what, hash] of Object.entries({
  "another dashboard": "#files",
  "a filter": link({ ts: { filter: "acc" } }),
  "a pinned card": link({ ts: { pins: ["eval/acc"] } }),
  "a zoom": link({ ts: { zoom: [10, 100] } }),
  "a wide card": link({ ts: { cards: { "eval/acc": { span: "wide" } } } }),
  groups: link({ runs: { group: "regex:(.)" } }),
})) {
  test(`a link to ${what} is left to the shell`, async ({ page, open }) => {
    const release = await withoutShell(page);
    await page.addInitScript(() =>
      new MutationObserver(() => {
        if (document.querySelector(".first [data-chart]") !== null)
          globalThis.stoodIn = true;
      }).observe(document, {
        childList: true,
        subtree: true,
        attributes: true,
      }),
    );
    await open(logdir(), hash);
    release();
    await page.locator(".hdr .brand").waitFor();
    equal(
      await page.evaluate(() => globalThis.stoodIn ?? false),
      false,
      "something stood in",
    );
  });
}

test("a window that is hidden gets its shell at once", async ({
  page,
  open,
}) => {
  await page.addInitScript(() =>
    Object.defineProperty(document, "hidden", { get: () => true }),
  );
  await open(logdir());
  await page.locator(".hdr .brand").waitFor();
  equal(await page.locator(".first").count(), 0, "what stood in");
});

test(
  "without the shell's file the page says so",
  async ({ page, open }) => {
    await page.route(SHELL, (route) => route.abort());
    await open(logdir());
    await page.getByText("did not arrive from the server").waitFor();
    equal(await page.locator(".first").count(), 0, "what stood in");
  },
  { console: false },
);
