// Small promises of the shell and the time series page: what is typed, chosen or linked does what it says.
import { writeRun } from "./events.mjs";
import {
  check,
  close,
  equal,
  eventually,
  numberOf,
  passes,
  settled,
  temporary,
  test,
} from "./harness.mjs";
import {
  card,
  logdir,
  NAMES,
  plot,
  ready,
  reference,
  value,
} from "./known.mjs";

const link = (slices, tab = "timeseries") =>
  `#${tab}&v=1.${Buffer.from(JSON.stringify(slices)).toString("base64url")}`;
const viewOf = (page) =>
  page.evaluate(() => {
    const text = /&v=1\.([^&]*)/.exec(location.hash)?.[1];
    return text === undefined
      ? {}
      : JSON.parse(atob(text.replaceAll("-", "+").replaceAll("_", "/")));
  });
const table = (page, tag) =>
  card(page, tag).getByRole("region", { name: /^Values of/ });
const rows = (page) => page.locator("[role=treegrid] [role=row][data-row]");

test("every digit can be typed into the plate of a step", async ({
  page,
  open,
}) => {
  await open(logdir(), link({ link: { on: true, step: 970 } }));
  await ready(page);
  await eventually(
    async () => {
      const box = await plot(page, "train/loss").boundingBox();
      for (
        let x = 0.3;
        x < 0.8 &&
        !(await page.getByRole("textbox", { name: "Step" }).isVisible());
        x += 0.02
      )
        await page.mouse.click(box.x + box.width * x, box.y + box.height - 8);
      return page.getByRole("textbox", { name: "Step" }).isVisible();
    },
    true,
    "the field of the plate",
  );
  const field = page.getByRole("textbox", { name: "Step" });
  await field.press("Control+a");
  await field.pressSequentially("1500");
  await field.press("Enter");
  await eventually(
    async () => (await viewOf(page)).link?.step,
    1500,
    "the step",
  );
});

test("the table of a range does not change when a part of it is shown", async ({
  page,
  open,
}) => {
  await open(
    logdir(),
    link({
      link: { on: true, step: 50, end: 1200 },
      ts: { zoom: [1000, 1500] },
    }),
  );
  await ready(page);
  await passes(async () => {
    const first = await table(page, "train/loss")
      .locator("tbody tr")
      .first()
      .locator("td")
      .allInnerTexts();
    close(numberOf(first[1]), reference(0, 0.6)[5], 6e-4, "at the start");
    close(numberOf(first[2]), reference(0, 0.6)[120], 6e-4, "at the end");
  });
});

test("a run without points in a range has no row, the table fits its card", async ({
  page,
  open,
}) => {
  const dir = temporary();
  writeRun(
    dir,
    "long",
    Array.from({ length: 50 }, (_, i) => [i, { loss: i }]),
  );
  writeRun(dir, "single", [[7, { loss: 5 }]]);
  await open(dir, link({ link: { on: true, step: 15, end: 35 } }));
  await ready(page, "loss");
  await eventually(
    async () =>
      (await table(page, "loss").locator("tbody tr").allInnerTexts()).map(
        (text) => text.trim().split(/\s/)[0],
      ),
    ["long"],
    "rows of the range",
  );
  const room = await table(page, "loss").evaluate(
    (box) => box.scrollWidth - box.clientWidth,
  );
  check(room <= 0, `${room} px of the table are cut`);
});

test("a dialog begins where one types: Enter saves; names in any script are kept apart", async ({
  page,
  open,
}) => {
  const dir = temporary();
  writeRun(dir, "one", [
    [0, { loss: 1 }],
    [1, { loss: 2 }],
  ]);
  await open(dir);
  await ready(page, "loss");
  for (const name of ["Вид", "另一个"]) {
    await page.getByRole("button", { name: "Save or share this view" }).click();
    await page.getByRole("menuitem", { name: "Save this view…" }).click();
    await page.getByRole("dialog").waitFor();
    await page.keyboard.type(name);
    await page.keyboard.press("Enter");
    await page.getByText(`View ${name} saved`).waitFor();
  }
  await settled(page);
  await page.getByRole("button", { name: "Save or share this view" }).click();
  for (const name of ["Вид", "另一个"])
    await page.getByRole("menuitem", { name, exact: true }).waitFor();
});

test("pins of a link do not replace my own", async ({ page, open }) => {
  await open(logdir());
  await ready(page);
  await card(page, "train/loss").hover();
  await card(page, "train/loss").getByRole("button", { name: /^Pin/ }).click();
  await eventually(
    () => page.evaluate(() => localStorage.getItem("sonde.pins")),
    '["train/loss"]',
    "kept",
  );
  await open(logdir(), link({ ts: { pins: ["eval/acc"] } }));
  await ready(page, "eval/acc");
  await open(logdir());
  await ready(page);
  await eventually(
    async () => (await viewOf(page)).ts?.pins,
    ["train/loss"],
    "my own pin",
  );
  await page.evaluate(() => localStorage.removeItem("sonde.pins"));
});

test("filters by column hold while the run panel is closed", async ({
  page,
  open,
}) => {
  await page.addInitScript(() =>
    localStorage.setItem("sonde.habits", '{"panelWidth":0}'),
  );
  const limit = reference(1, 0)[199] + 0.01; // the first two runs of six
  await open(
    logdir(),
    link({
      runs: { filters: [{ col: "metric:train/loss:last", max: limit }] },
    }),
  );
  await ready(page);
  const wanted = NAMES.filter((_, run) => value(run, 199) <= limit).length;
  await eventually(
    async () =>
      (await plot(page, "train/loss").getAttribute("aria-label")).includes(
        `${wanted} line`,
      ),
    true,
    `${wanted} lines`,
  );
});

test("another x axis shows everything again, a flat or upright drag zooms one axis", async ({
  page,
  open,
}) => {
  await open(
    logdir(),
    link({
      ts: { link: false, cards: { "train/loss": { zoom: [100, 200] } } },
    }),
  );
  await ready(page);
  await page
    .getByRole("combobox", { name: "Horizontal axis" })
    .or(page.getByRole("button", { name: "Horizontal axis" }))
    .first()
    .click();
  await page.getByRole("option", { name: "Wall time" }).click();
  await eventually(
    async () => (await viewOf(page)).ts?.cards ?? null,
    null,
    "no zoom is left",
  );
  await open(logdir());
  await ready(page);
  const box = await plot(page, "train/loss").boundingBox();
  await page.mouse.move(box.x + box.width * 0.5, box.y + 30);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.5, box.y + 110, { steps: 4 });
  await page.mouse.up();
  await eventually(
    async () => (await viewOf(page)).ts?.cards?.["train/loss"]?.zoomY?.length,
    2,
    "y is zoomed",
  );
  equal((await viewOf(page)).ts.zoom, undefined, "x is left alone");
});

test("one end of a range may be typed alone, and the other keeps all its digits", async ({
  page,
  open,
}) => {
  await open(logdir(), link({ ts: { zoom: [123.4567891, 1500] } }));
  await ready(page);
  const field = (name) => page.getByRole("textbox", { name, exact: true });
  await field("Right end of the horizontal axis").fill("1200");
  await field("Right end of the horizontal axis").press("Enter");
  await eventually(
    async () => (await viewOf(page)).ts?.zoom,
    [123.4567891, 1200],
    "the left end",
  );
  await open(logdir());
  await ready(page);
  await field("Left end of the horizontal axis").fill("500");
  await field("Left end of the horizontal axis").press("Enter");
  await eventually(
    async () => (await viewOf(page)).ts?.zoom,
    [500, 1990],
    "the right end is the data’s",
  );
});

test("a filter of an old link goes when it is cleared", async ({
  page,
  open,
}) => {
  await open(logdir(), "?runFilter=b/&keep=1#timeseries");
  await ready(page);
  await eventually(() => rows(page).count(), 3, "rows");
  equal(
    new URL(page.url()).search,
    "?keep=1",
    "what was taken over is gone from the address",
  );
  await page.getByRole("textbox", { name: "Filter runs" }).fill("");
  await eventually(() => rows(page).count(), 6, "all rows");
  await eventually(
    async () => (await viewOf(page)).runs ?? null,
    null,
    "written",
  );
  await page.reload();
  await ready(page);
  await eventually(() => rows(page).count(), 6, "all rows after a reload");
});

test("tags are suggested and chosen by keyboard, and mean themselves", async ({
  page,
  open,
}) => {
  const dir = temporary();
  writeRun(dir, "one", [
    [0, { "acc (top+1)": 1, acc: 1, loss: 2 }],
    [1, { "acc (top+1)": 1, acc: 1, loss: 2 }],
  ]);
  await open(dir);
  await ready(page, "loss");
  const field = page
    .getByRole("textbox", { name: /^Filter tags/ })
    .or(page.getByRole("combobox", { name: /^Filter tags/ }));
  await field.fill("a");
  await page.getByRole("option", { name: "acc (top+1)" }).waitFor();
  for (let i = 0; i < 2; i++) await field.press("ArrowDown");
  await field.press("Enter");
  await eventually(
    () =>
      page
        .locator("[data-card]")
        .evaluateAll((all) => all.map((one) => one.dataset.card)),
    ["acc (top+1)"],
    "cards",
  );
});

test("a name typed into the run table runs no command", async ({
  page,
  open,
}) => {
  const dir = temporary();
  for (const name of ["alpha", "bconv", "x_model"])
    writeRun(dir, name, [
      [0, { loss: 1 }],
      [1, { loss: 2 }],
    ]);
  await open(dir);
  await ready(page, "loss");
  await rows(page).first().focus();
  await page.keyboard.type("x_mo");
  await eventually(
    () =>
      page.evaluate(() =>
        document.activeElement?.textContent?.includes("x_model"),
      ),
    true,
    "the row of the name",
  );
  equal((await viewOf(page)).runs, undefined, "nothing was isolated");
});

test(
  "a narrow window: the runs open over the charts and close by key and button",
  async ({ page, open }) => {
    await open(logdir());
    await ready(page);
    for (const shut of [
      () => page.keyboard.press("Escape"),
      () => page.getByRole("button", { name: "Close the run list" }).click(),
    ]) {
      await page.getByRole("button", { name: "Show runs" }).click();
      await page.locator(".sheet").waitFor();
      await shut();
      await page.locator(".sheet").waitFor({ state: "detached" });
    }
  },
  { viewport: { width: 500, height: 700 } },
);

test("the mean of a group is that of the runs that are drawn", async ({
  page,
  open,
}) => {
  await open(
    logdir(),
    link({
      runs: {
        group: "dir",
        flip: ["a/s0", "a/s1"],
        columns: ["metric:train/loss:last"],
      },
    }),
  );
  await ready(page);
  const cell = page.locator('[data-row="g a"] .num').first();
  await passes(async () =>
    close(
      numberOf(await cell.innerText()),
      value(2, 199),
      6e-4,
      "mean of group a",
    ),
  );
});
