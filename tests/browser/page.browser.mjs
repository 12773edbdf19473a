// The shell and the time series page, on logs whose every number is known.
import { readFileSync } from "node:fs";
import { append, writeRun } from "./events.mjs";
import {
  axe,
  check,
  close,
  corpus,
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
  chip,
  chipNumbers,
  choose,
  drag,
  exported,
  filterRuns,
  filterTags,
  hover,
  logdir,
  N,
  NAMES,
  plot,
  ready,
  reference,
  stored,
  tipPasses,
  tipRows,
  value,
} from "./known.mjs";

test("the first page shows charts with curves, no console error", async ({
  page,
  open,
}) => {
  await open(logdir());
  await ready(page);
  await eventually(() => page.locator("[data-card]").count(), 3, "cards");
  await eventually(
    () =>
      page.locator("[role=treegrid] [role=row][aria-selected=true]").count(),
    6,
    "rows shown",
  );
  await eventually(
    async () => (await page.title()).includes("Time series"),
    true,
    "title",
  );
  await page.waitForURL(/#timeseries/);
});

test("the first chart comes with the page: nobody asks for its columns", async ({
  page,
  open,
}) => {
  const asked = [];
  page.on("request", (request) => {
    if (request.url().endsWith("/columns"))
      asked.push(JSON.parse(request.postData()).series[0].tag);
  });
  await open(logdir());
  await ready(page);
  const first = await page
    .locator("[data-card]")
    .first()
    .getAttribute("data-card");
  await eventually(
    () => asked.length > 0,
    true,
    "the other cards ask for theirs",
  );
  check(!asked.includes(first), `${first} was asked for: ${asked}`);
});

test("the tooltip equals the data, smoothed values equal the reference", async ({
  page,
  open,
}) => {
  await open(logdir());
  await ready(page);
  await hover(page, "train/loss", 0.62, 0.5);
  await tipPasses(page, ({ step, rows, exact }) => {
    equal(rows.length, 6, "rows");
    rows.forEach(([name, smoothed, shown], i) => {
      const run = NAMES.indexOf(name);
      const raw = value(run, step / 10);
      close(numberOf(shown), raw, 6e-4, `value of ${name}`);
      equal(Number(exact[i]), raw, `all digits of ${name}`);
      close(
        numberOf(smoothed),
        reference(run, 0.6)[step / 10],
        6e-4,
        `smoothed ${name}`,
      );
    });
  });
});

function gauss(run, at, sigma) {
  let [sum, weight] = [0, 0];
  for (let i = 0; i < N; i++) {
    const v = stored(run, i);
    const w = Math.exp(-((i - at) ** 2) / (2 * sigma * sigma));
    if (Number.isFinite(v)) [sum, weight] = [sum + w * v, weight + w];
  }
  return sum / weight;
}

test("another weight, window mean and no smoothing change the shown value", async ({
  page,
  open,
}) => {
  await open(logdir());
  await ready(page);
  const weight = page.getByRole("textbox", { name: "Smoothing" });
  await weight.fill("0.95");
  await weight.press("Enter");
  await hover(page, "train/loss", 0.4, 0.5);
  await tipPasses(page, ({ step, rows }) => {
    for (const [name, smoothed] of rows)
      close(
        numberOf(smoothed),
        reference(NAMES.indexOf(name), 0.95)[step / 10],
        6e-4,
        name,
      );
  });
  await choose(page, "Method", "None");
  await hover(page, "train/loss", 0.4, 0.5);
  await eventually(
    async () => (await tipRows(page)).columns,
    2,
    "no column for smoothed values",
  );
  await choose(page, "Method", "Window mean");
  await hover(page, "train/loss", 0.4, 0.5);
  await tipPasses(page, ({ step, rows }) => {
    for (const [name, smoothed] of rows) {
      const mean =
        Array.from({ length: 11 }, (_, k) =>
          value(NAMES.indexOf(name), step / 10 - 5 + k),
        ).reduce((a, b) => a + b) / 11;
      close(numberOf(smoothed), mean, 6e-4, `window mean of ${name}`);
    }
  });
  await choose(page, "Method", "Gaussian");
  await hover(page, "train/loss", 0.4, 0.5);
  await tipPasses(page, ({ step, rows }) => {
    for (const [name, smoothed] of rows)
      close(
        numberOf(smoothed),
        gauss(NAMES.indexOf(name), step / 10, 5),
        2e-3,
        `Gaussian of ${name}`,
      );
  });
});

test("a drag zooms every linked card, double click fits again", async ({
  page,
  open,
}) => {
  await open(logdir());
  await ready(page);
  await drag(page, "train/loss", [0.4, 0.5], [0.6, 0.5]);
  await chip(page, "Zoom").waitFor();
  await passes(async () => {
    const [from, to] = await chipNumbers(page, "Zoom");
    check(from > 500 && to < 1300 && from < to, `zoom ${from} – ${to}`);
  });
  await page.waitForURL(/v=1\./); // the zoom is in the address
  for (const tag of ["train/loss", "eval/acc"])
    await card(page, tag)
      .getByRole("button", { name: "Reset zoom" })
      .waitFor({ state: "attached" });
  const box = await plot(page, "train/loss").boundingBox();
  await page.mouse.dblclick(box.x + box.width * 0.5, box.y + box.height * 0.4);
  await chip(page, "Zoom").waitFor({ state: "detached" });
});

test("a range on the axis gives a table with the right numbers, linked to all cards", async ({
  page,
  open,
}) => {
  await open(logdir());
  await ready(page);
  const box = await card(page, "train/loss")
    .locator("[data-chart=ready]")
    .boundingBox();
  await page.mouse.move(box.x + box.width * 0.4, box.y + box.height - 8);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.7, box.y + box.height - 8, {
    steps: 5,
  });
  await page.mouse.up();
  await page.mouse.move(5, 5);
  const table = card(page, "train/loss").locator(".mini");
  await page
    .locator(".chip", { hasText: "Linked range" })
    .locator(".txt")
    .click();
  await table.waitFor();
  await passes(async () => {
    const [from, to] = await chipNumbers(page, "Linked range");
    const rows = await table
      .locator("tbody tr")
      .evaluateAll((trs) =>
        trs.map((tr) =>
          [...tr.querySelectorAll("td")].map((td) => td.textContent.trim()),
        ),
      );
    check(rows.length >= 3, `${rows.length} rows`);
    for (const [name, start, end, delta] of rows) {
      const smooth = reference(NAMES.indexOf(name), 0.6);
      close(numberOf(start), smooth[from / 10], 6e-4, `${name} at ${from}`);
      close(numberOf(end), smooth[to / 10], 6e-4, `${name} at ${to}`);
      close(
        numberOf(delta.replace("+", "")),
        smooth[to / 10] - smooth[from / 10],
        1.2e-3,
        `Δ of ${name}`,
      );
    }
  });
  await eventually(
    () => page.locator(".mini").count(),
    3,
    "tables of all cards",
  );
});

test("filter, isolate, hide all; the link restores the view", async ({
  page,
  open,
  context,
}) => {
  await open(logdir());
  await ready(page);
  await filterRuns(page).fill("^a/");
  await eventually(
    () => page.locator("[role=treegrid] [data-row]").count(),
    3,
    "rows that match",
  );
  await page.locator("[data-row]").nth(1).locator("input").dblclick();
  await eventually(
    () => page.locator("[data-row][aria-selected=true]").count(),
    1,
    "isolated",
  );
  const before = page.url();
  await filterTags(page).fill("loss");
  await eventually(
    () => page.locator("[data-card]").count(),
    1,
    "cards that match",
  );
  await page.waitForURL((url) => url.href !== before);
  await settled(page);
  const other = await context.newPage();
  await eventually(
    async () => {
      await other.goto(page.url());
      await other.locator("#app [data-chart=ready]").first().waitFor();
      return [
        await other.locator("[data-card]").count(),
        await other.locator("[data-row][aria-selected=true]").count(),
        await filterRuns(other).inputValue(),
      ];
    },
    [1, 1, "^a/"],
    "cards, runs and filter of the copied link",
  );
});

test("a broken regular expression says so", async ({ page, open }) => {
  await open(logdir());
  await ready(page);
  await page.getByRole("textbox", { name: /Filter runs/ }).fill("a(");
  await page.getByText("is not a valid regular expression").waitFor();
  await page.getByRole("textbox", { name: "Filter tags" }).fill("zzz");
  await page.getByText("No tag matches /zzz/ out of 3 tags").waitFor();
});

test("groups by folder draw the mean; the tooltip shows it", async ({
  page,
  open,
}) => {
  await open(logdir());
  await ready(page);
  await page.getByRole("button", { name: /^Group/ }).click();
  await page.getByRole("menuitemcheckbox", { name: "folder" }).click();
  await eventually(
    () => page.locator('[data-row^="g "]').count(),
    2,
    "group rows",
  );
  await choose(page, "Method", "None");
  await hover(page, "train/loss", 0.3, 0.6);
  await tipPasses(page, ({ step, rows }) => {
    const mean =
      [0, 1, 2].reduce((sum, run) => sum + value(run, step / 10), 0) / 3;
    close(
      numberOf(rows.find((row) => row[0] === "a")[1]),
      mean,
      6e-4,
      "mean of group a",
    );
  });
});

test("x = another tag", async ({ page, open }) => {
  await open(logdir());
  await ready(page);
  await choose(page, "X", "train/epoch");
  await hover(page, "train/loss", 0.5, 0.5);
  await eventually(
    async () => (await tipRows(page)).head.includes("train/epoch"),
    true,
    "the tooltip names the axis",
  );
});

test("colour, name and note of a run are kept with the logs", async ({
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
  await page.getByRole("button", { name: "Colour of one" }).click();
  await page.getByRole("button", { name: "Colour 8", exact: true }).click();
  await page.locator("[data-row]").first().click({ button: "right" });
  await page.getByRole("menuitem", { name: /Details/ }).click();
  await page.getByRole("textbox", { name: "Name" }).fill("baseline");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await eventually(
    () => {
      const saved = JSON.parse(
        readFileSync(`${dir}/.sonde/sidecar.json`, "utf8"),
      ).runs.one;
      return [saved.alias, saved.colour];
    },
    ["baseline", "#be023c"],
    "sidecar",
  );
  await page.reload();
  await page.locator("[data-row]", { hasText: "baseline" }).waitFor();
});

test("export: CSV equals the series", async ({ page, open }) => {
  await open(logdir());
  await ready(page);
  const lines = (await exported(page, "train/loss", "CSV")).trim().split("\n");
  equal(lines.length, 1 + 6 * N, "lines");
  for (const line of lines.slice(1)) {
    const [run, tag, step, , text] = line.split(",");
    check(
      tag === "train/loss" &&
        Object.is(Number(text), stored(NAMES.indexOf(run), step / 10)),
      line,
    );
  }
});

test("export: SVG has titles, legend and all lines", async ({ page, open }) => {
  await open(logdir());
  await ready(page);
  const svg = await exported(page, "train/loss", "SVG");
  for (const name of [...NAMES, "Step", "train/loss"])
    check(svg.includes(`>${name}</text>`), `${name} is missing`);
  check(
    !/NaN|undefined/.test(svg.replace(/<title>.*?<\/title>/, "")),
    "a coordinate is no number",
  );
});

test("new points and new runs appear without a reload; pause holds them back", async ({
  page,
  open,
}) => {
  const dir = temporary();
  const path = writeRun(dir, "one", [
    [0, { loss: 1 }],
    [1, { loss: 2 }],
  ]);
  await open(dir);
  await ready(page, "loss");
  append(path, 1.7e9 + 2, 2, { loss: 3 });
  await page.waitForFunction(() =>
    document
      .querySelector("[data-card] [data-chart]")
      ?.getAttribute("aria-label")
      ?.includes("to 2"),
  );
  writeRun(dir, "two", [[0, { loss: 5 }]]);
  await page.locator("[data-row]", { hasText: "two" }).waitFor();
  await eventually(
    async () =>
      (
        await card(page, "loss")
          .locator("[data-chart]")
          .getAttribute("aria-label")
      ).includes("2 lines"),
    true,
    "the new run is drawn",
  );
  await page.reload(); // what is still to be asked about the new run would bring later points with it
  await ready(page, "loss");
  await page.keyboard.press("p");
  append(path, 1.7e9 + 3, 3, { loss: 4 });
  await page
    .getByText("updates pending")
    .or(page.getByText("update pending"))
    .first()
    .waitFor();
  check(
    !(
      await card(page, "loss")
        .locator("[data-chart]")
        .getAttribute("aria-label")
    ).includes("to 3"),
    "paused but drawn",
  );
  await page.keyboard.press("p");
  await page.waitForFunction(() =>
    document
      .querySelector("[data-card] [data-chart]")
      ?.getAttribute("aria-label")
      ?.includes("to 3"),
  );
});

test("a pause also holds back what is on its way", async ({ page, open }) => {
  const dir = temporary();
  const path = writeRun(dir, "one", [
    [0, { loss: 1 }],
    [1, { loss: 2 }],
  ]);
  await open(dir);
  await ready(page, "loss");
  await page.getByRole("button", { name: /^Live/ }).waitFor(); // the stream is open
  let release;
  const released = new Promise((resolve) => (release = resolve));
  await page.route(/\/api\/v1\/runs\?since/, async (route) => {
    await released;
    await route.continue();
  });
  const asked = page.waitForRequest(/\/api\/v1\/runs\?since/);
  append(path, 1.7e9 + 2, 2, { loss: 3 });
  await asked;
  await page.keyboard.press("p");
  release();
  for (const step of [3, 4, 5]) {
    // time for what must not be drawn
    append(path, 1.7e9 + step, step, { loss: 3 });
    await eventually(
      async () =>
        Number(
          /(\d+) update/.exec(await page.locator(".live").innerText())?.[1],
        ) >=
        step - 2,
      true,
      `the change of step ${step} waits`,
    );
    await settled(page);
  }
  const label = () =>
    card(page, "loss").locator("[data-chart]").getAttribute("aria-label");
  check((await label()).includes("to 1"), `paused but drawn: ${await label()}`);
  await page.keyboard.press("p");
  await eventually(
    async () => (await label()).includes("to 5"),
    true,
    "drawn after the pause",
  );
});

test("an empty directory is explained and fills by itself", async ({
  page,
  open,
}) => {
  const dir = temporary();
  await open(dir);
  await page.getByRole("heading", { name: /No data in/ }).waitFor();
  await page.getByText("add_scalar").waitFor();
  writeRun(dir, "first", [
    [0, { loss: 1 }],
    [1, { loss: 2 }],
  ]);
  await ready(page, "loss");
});

test("damage is named on the files page", async ({ page, open }) => {
  await open(corpus("edge_corrupt"), "#files");
  await page.getByText("Needs attention").waitFor();
  await page.locator(".issue").first().waitFor();
});

test("keyboard only: palette, filter, chart, run table", async ({
  page,
  open,
}) => {
  await open(logdir());
  await ready(page);
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox").waitFor();
  await page.keyboard.type("eval/acc");
  await page
    .getByRole("option", { name: /eval\/acc/ })
    .first()
    .waitFor();
  await page.keyboard.press("Enter");
  await eventually(
    () => page.locator("[data-card]").count(),
    1,
    "the palette narrows to the tag",
  );
  await page.waitForURL(/v=1\./); // an undo goes back over what is in the address
  await page.keyboard.press("Control+z");
  await eventually(() => page.locator("[data-card]").count(), 3, "undo");
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keyboard" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await ready(page); // a chart without curves takes no keys
  await plot(page, "train/loss").focus();
  await page.keyboard.press("Enter");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await page.locator(".tip").waitFor();
  await eventually(
    async () => (await tipRows(page)).step,
    20,
    "step by arrows",
  );
  await page.keyboard.press("Escape");
  await page.keyboard.press("f");
  await page.locator(".card.full").waitFor();
  await page.keyboard.press("Escape");
  await page.locator(".card.full").waitFor({ state: "detached" });
  await page.locator("[data-row]").first().focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("o");
  await eventually(
    () => page.locator("[data-row][aria-selected=true]").count(),
    1,
    "only this",
  );
});

for (const [name, dark] of [
  ["light", false],
  ["dark", true],
]) {
  test(
    `axe finds nothing serious, ${name}`,
    async ({ page, open }) => {
      await open(logdir());
      await ready(page);
      equal(await axe(page), [], "time series");
      await page.keyboard.press("Control+k");
      await page.getByRole("combobox").waitFor();
      equal(await axe(page), [], "palette");
      await page.keyboard.press("Escape");
      await page.goto(page.url().replace(/#.*/, "#files"));
      await page.getByText("Records read").waitFor();
      equal(await axe(page), [], "files");
    },
    { dark },
  );
}

test(
  "a small frame has no scroll bar of its own",
  async ({ page, open }) => {
    await open(logdir());
    await ready(page, "eval/acc");
    await eventually(
      () =>
        page.evaluate(() => [
          document.documentElement.scrollWidth <= innerWidth,
          document.documentElement.scrollHeight <= innerHeight,
        ]),
      [true, true],
      "the page fits",
    );
  },
  { viewport: { width: 800, height: 600 } },
);

test("links of TensorBoard open the same view", async ({ page, open }) => {
  await open(logdir(), "?smoothing=0.9&runFilter=%5Ea#scalars&tagFilter=loss");
  await ready(page);
  await eventually(() => page.locator("[data-card]").count(), 1, "tag filter");
  await eventually(() => page.locator("[data-row]").count(), 3, "run filter");
  await eventually(
    () => page.getByRole("textbox", { name: "Smoothing" }).inputValue(),
    "0.9",
    "smoothing",
  );
});
