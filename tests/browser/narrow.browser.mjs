// Small windows: nothing is cut off, nothing that was asked for stays away.
import { writeRun } from "./events.mjs";
import {
  check,
  corpus,
  equal,
  eventually,
  settled,
  temporary,
  test,
} from "./harness.mjs";
import { card, logdir, ready } from "./known.mjs";

const TABLET = { viewport: { width: 820, height: 900 } };
const PHONE = { viewport: { width: 390, height: 844 } };

test(
  "narrow: help and the details of a run open on a tablet",
  async ({ page, open }) => {
    await open(logdir());
    await ready(page);
    await page.locator("main").focus();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard" }).waitFor();
    await page.keyboard.press("Escape");
    await eventually(() => page.getByRole("dialog").count(), 0, "help closes");
    await page.locator("[role=treegrid] [data-row] .mid").first().click();
    await page.getByRole("dialog").getByLabel("Note").waitFor();
  },
  TABLET,
);

test(
  "narrow: the details of a run open on a phone",
  async ({ page, open }) => {
    await open(logdir());
    await ready(page);
    await page.getByRole("button", { name: "Show runs" }).click();
    await page.locator("[role=treegrid] [data-row] .mid").first().click();
    await page.getByRole("dialog").getByLabel("Note").waitFor();
  },
  PHONE,
);

test(
  "narrow: a chart that was made two columns wide stays, and so does the table of a run's metrics",
  async ({ page, open }) => {
    const state = { ts: { cards: { "train/loss": { span: "wide" } } } };
    await open(
      logdir(),
      `#timeseries&v=1.${Buffer.from(JSON.stringify(state)).toString("base64url")}`,
    );
    await ready(page, "eval/acc");
    await card(page, "train/loss").waitFor();
    await page.goto(`${page.url().split("#")[0]}#run`);
    await page
      .locator("section.card", { hasText: "Metrics" })
      .getByRole("table")
      .waitFor();
  },
  TABLET,
);

for (const [name, dir, hash] of [
  ["time series", logdir, "#timeseries"],
  ["images", () => corpus("tf2_images"), "#images"],
  ["histograms", () => corpus("tf2_histograms"), "#histograms"],
  ["distributions", () => corpus("tf2_histograms"), "#distributions"],
  ["audio", () => corpus("tf2_audio"), "#audio"],
  ["text", () => corpus("tf2_text"), "#text"],
  ["PR curves", () => corpus("pr_curves_custom_scalars"), "#pr_curves"],
  ["mesh", () => corpus("mesh"), "#mesh"],
  ["custom scalars", () => corpus("pr_curves_custom_scalars"), "#custom_scalars"],
])
  test(
    `narrow: cards and tools of ${name} lie inside a phone's window`,
    async ({ page, open }) => {
      await open(dir(), hash);
      await page.locator("main section.card").first().waitFor();
      await settled(page);
      const outside = await page.evaluate(() =>
        [
          ...document.querySelectorAll(
            "main section.card, main .bar :is(button, input, [role=slider], [role=switch])",
          ),
        ]
          .filter((one) => {
            const box = one.getBoundingClientRect();
            return box.width > 0 && (box.right > innerWidth + 1 || box.left < -1);
          })
          .map((one) => one.getAttribute("aria-label") ?? one.className),
      );
      equal(outside, [], "outside the window");
      equal(
        await page.evaluate(
          () => document.documentElement.scrollWidth <= innerWidth,
        ),
        true,
        "the page is as wide as the window",
      );
    },
    PHONE,
  );

test("narrow: a card's title is whole while remarks beside it give way", async ({
  page,
  open,
}) => {
  const dir = temporary();
  writeRun(
    dir,
    "a",
    Array.from({ length: 400 }, (_, i) => [
      i,
      { learning_rate: i % 40 === 7 ? -90 : i % 50 === 9 ? 90 : Math.sin(i / 30) },
    ]),
  );
  await open(dir);
  await ready(page, "learning_rate");
  await card(page, "learning_rate")
    .getByRole("button", { name: /points? below the axis/ })
    .waitFor();
  equal(
    await card(page, "learning_rate")
      .locator("h3 .clip")
      .evaluate((head) => head.scrollWidth <= head.clientWidth),
    true,
    "the title",
  );
});

test("narrow: a mesh whose series has no ending is shown", async ({
  page,
  open,
}) => {
  await open(corpus("tbx_all"), "#mesh");
  await page.locator("main section.card", { hasText: "mesh" }).waitFor();
});

test("hints: three on the first visit, which move nothing and go away for ever", async ({
  page,
  open,
}) => {
  await open(logdir());
  await ready(page);
  const hint = page.getByRole("note");
  await hint.waitFor();
  const place = () => card(page, "train/loss").boundingBox();
  const before = await place();
  const said = new Set();
  for (let i = 0; i < 3; i++) {
    said.add((await hint.textContent()).trim());
    await hint.getByRole("button").first().click();
  }
  equal(said.size, 3, "different hints");
  await eventually(() => hint.count(), 0, "all read");
  equal(await place(), before, "the chart");
  await page.reload();
  await ready(page);
  await page.locator("[data-head]").first().waitFor();
  await settled(page);
  equal(await hint.count(), 0, "hints on the second visit");
});
