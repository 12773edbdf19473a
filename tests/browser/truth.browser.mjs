// The page tells the truth at first sight and changes nothing that an action does not name: one test a fault.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { writeGraph, writeRun } from "./events.mjs";
import {
  check,
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
  filterRuns,
  hover,
  logdir,
  plot,
  ready,
  tipRows,
} from "./known.mjs";

const link = (slices, tab = "timeseries") =>
  `#${tab}&v=1.${Buffer.from(JSON.stringify(slices)).toString("base64url")}`;
const tabOf = (page) =>
  page.evaluate(() => location.hash.replace(/^#/, "").split("&")[0]);
const positions = (page) =>
  page.locator("[data-card]").evaluateAll((cards) =>
    cards.map((one) => {
      const { x, y, width, height } = one.getBoundingClientRect();
      return [one.dataset.card, x, y, width, height].join(" ");
    }),
  );
const runOf = (values, tag = "loss") =>
  values.map((value, i) => [i, { [tag]: value }]);

// 1. No data while there is data ------------------------------------------------------------------------------------

const onlyCapture = () => {
  const dir = temporary();
  const run = join(dir, "plugins/profile/2026_11_15");
  mkdirSync(run, { recursive: true });
  writeFileSync(
    join(run, "host.trace.json"),
    JSON.stringify({
      traceEvents: [
        { ph: "X", name: "step", pid: 1, tid: 1, ts: 0, dur: 100 },
        { ph: "X", name: "matmul", pid: 1, tid: 1, ts: 10, dur: 30 },
      ],
    }),
  );
  return dir;
};
const onlyGraph = () => {
  const dir = temporary();
  writeGraph(dir, "model", [
    { name: "a", op: "Const" },
    { name: "b", op: "Relu", inputs: ["a"] },
  ]);
  return dir;
};
const onlyEmbedding = () => {
  const dir = temporary();
  writeFileSync(
    join(dir, "projector_config.pbtxt"),
    'embeddings {\n  tensor_name: "words"\n  tensor_path: "vectors.tsv"\n}\n',
  );
  writeFileSync(join(dir, "vectors.tsv"), "1\t2\t3\n4\t5\t6\n7\t8\t10\n");
  return dir;
};
for (const [what, make, tab] of [
  ["a capture", onlyCapture, "profile"],
  ["a graph", onlyGraph, "graphs"],
  ["an embedding", onlyEmbedding, "projector"],
]) {
  test(`truth 1: a folder that holds only ${what} opens its page`, async ({
    page,
    open,
  }) => {
    await open(make());
    await eventually(() => tabOf(page), tab, "the page that is open");
    equal(
      await page.getByRole("heading", { name: /^No / }).count(),
      0,
      "claims of no data",
    );
  });
}

test("truth 1: what is no event file is counted, and where it can be seen is said", async ({
  page,
  open,
}) => {
  await open(onlyCapture(), "#timeseries");
  await page
    .getByRole("heading", { name: "No scalars in these logs" })
    .waitFor();
  await page.getByRole("button", { name: "All 1 file", exact: true }).waitFor();
  await page
    .getByRole("button", { name: "Profile", exact: true })
    .last()
    .click();
  await eventually(() => tabOf(page), "profile", "the page that is open");
  await open(onlyCapture(), "#files");
  await page.getByRole("row", { name: /2026_11_15.*capture/ }).waitFor();
});

test("truth 1: a damaged file is called damaged, not empty", async ({
  page,
  open,
}) => {
  const dir = temporary();
  writeFileSync(
    join(dir, "events.out.tfevents.1.host"),
    "these are no records ".repeat(40),
  );
  await open(dir);
  await page.getByText("damaged, 840 B unreadable").waitFor();
  await page.goto(`${page.url().split("#")[0]}#files`);
  await page
    .getByRole("table")
    .getByText("1 damaged region", { exact: true })
    .waitFor();
});

test("truth 1: debugger dumps are counted", async ({ page, open }) => {
  const dir = temporary();
  for (const kind of ["metadata", "execution"])
    writeFileSync(join(dir, `tfdbg_events.1794786553.host.${kind}`), "x");
  await open(dir, "#files");
  await page.getByRole("row", { name: /debugger.*2 files/ }).waitFor();
});

// 2. Settings change what the panel says, nothing else ---------------------------------------------------------------

test("truth 2: a click on a chart does not narrow the settings to it", async ({
  page,
  open,
}) => {
  await open(logdir());
  await ready(page);
  await ready(page, "eval/acc");
  const box = await plot(page, "train/loss").boundingBox();
  await page.mouse.click(box.x + box.width * 0.5, box.y + box.height * 0.4);
  const slider = page.getByRole("slider", { name: "Smoothing" });
  await slider.fill("0.9");
  for (const tag of ["train/loss", "eval/acc"])
    await eventually(
      async () =>
        (await card(page, tag).locator(".u").first().textContent()).includes(
          "EMA 0.9",
        ),
      true,
      `the smoothing of ${tag}`,
    );
});

test("truth 2: the scope is a switch in the panel, which stays inside the window", async ({
  page,
  open,
}) => {
  await open(logdir());
  await ready(page);
  await ready(page, "eval/acc");
  await page.getByRole("radio", { name: "This chart", exact: true }).click();
  await page.getByRole("slider", { name: "Smoothing" }).fill("0.9");
  const texts = () =>
    Promise.all(
      ["eval/acc", "train/loss"].map(
        async (tag) =>
          /EMA 0\.\d/.exec(
            await card(page, tag).locator(".u").first().textContent(),
          )?.[0],
      ),
    );
  await eventually(texts, ["EMA 0.9", "EMA 0.6"], "smoothing of the two");
  const close = await page
    .locator(".insp > header")
    .getByRole("button")
    .last()
    .boundingBox();
  check(
    close.x + close.width <= 1440,
    `the close button ends at ${close.x + close.width}`,
  );
});

// 3. Diamonds of captured steps --------------------------------------------------------------------------------------

test("truth 3: diamonds follow a zoom, survive a visit elsewhere and say what they are", async ({
  page,
  open,
}) => {
  const dir = temporary();
  writeRun(
    dir,
    "train",
    Array.from({ length: 100 }, (_, i) => [i, { loss: 1 / (i + 1) }]),
  );
  const session = join(dir, "train/plugins/profile/s1");
  mkdirSync(session, { recursive: true });
  writeFileSync(
    join(session, "host.pt.trace.json"),
    JSON.stringify({
      traceEvents: [40, 41, 60].map((step, i) => ({
        ph: "X",
        name: `ProfilerStep#${step}`,
        cat: "user_annotation",
        pid: 1,
        tid: 1,
        ts: i * 1000,
        dur: 900,
      })),
    }),
  );
  const marks = () =>
    page
      .locator("[data-card=loss] .capture")
      .evaluateAll((all) =>
        all.map((one) => Math.round(parseFloat(one.style.left))),
      );
  await open(dir);
  await ready(page, "loss");
  await eventually(async () => (await marks()).length > 1, true, "diamonds");
  const before = await marks();
  await card(page, "loss").getByText("3 profiled steps").waitFor();
  const box = await plot(page, "loss").boundingBox();
  await page.mouse.move(box.x + box.width * 0.35, box.y + box.height * 0.3);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.75, box.y + box.height * 0.6, {
    steps: 4,
  });
  await page.mouse.up();
  await eventually(
    async () => JSON.stringify(await marks()) !== JSON.stringify(before),
    true,
    "diamonds that moved with the zoom",
  );
  await page
    .locator("header .tabs, nav")
    .getByText("Files", { exact: true })
    .first()
    .click();
  await eventually(() => tabOf(page), "files");
  await page.goBack();
  await ready(page, "loss");
  await eventually(
    async () => (await marks()).length > 0,
    true,
    "diamonds after a visit to another page",
  );
});

// 4. Points are counted, not what is drawn of them -------------------------------------------------------------------

test("truth 4: points outside the axis are counted the same at any width, and a click shows them", async ({
  page,
  open,
}) => {
  const dir = temporary();
  const values = Array.from({ length: 20_000 }, (_, i) =>
    i % 250 === 100 ? 50 : 1 + Math.sin(i / 900) / 10,
  );
  writeRun(dir, "a", runOf(values, "speed"));
  await open(
    dir,
    link({ ts: { smooth: { kind: "none", p: 0 }, ymin: 0, ymax: 2 } }),
  );
  await ready(page, "speed");
  const wanted = `${values.filter((value) => value > 2).length} points above the axis`;
  const label = card(page, "speed").getByRole("button", {
    name: /points? above/,
  });
  await eventually(
    async () => (await label.textContent()).trim(),
    wanted,
    "at 1440",
  );
  await page.setViewportSize({ width: 1024, height: 900 });
  await settled(page);
  await eventually(
    async () => (await label.textContent()).trim(),
    wanted,
    "at 1024",
  );
  await label.click();
  await eventually(() => label.count(), 0, "nothing is outside any more");
});

// 5. Defaults show what people came for ------------------------------------------------------------------------------

test("truth 5: few points are not smoothed", async ({ page, open }) => {
  const dir = temporary();
  writeRun(dir, "a", runOf([5, 1, 4, 2, 3, 1, 6], "speed"));
  await open(dir);
  await ready(page, "speed");
  equal(
    /EMA/.test(await card(page, "speed").locator(".u").first().textContent()),
    false,
    "EMA in the head",
  );
  await hover(page, "speed", 0.95, 0.5);
  await passes(async () => {
    const tip = await tipRows(page);
    equal(tip.step, 6, "the last step");
    equal(numberOf(tip.rows[0].at(-1)), 6, "its value");
    equal(tip.columns, 2, "run and value, nothing smoothed");
  });
});

test("truth 5: the fit hides no run's best or last value", async ({
  page,
  open,
}) => {
  const dir = temporary();
  for (let run = 0; run < 60; run++)
    writeRun(
      dir,
      `r${String(run).padStart(2, "0")}`,
      runOf(
        Array.from(
          { length: 40 },
          (_, i) => (run === 7 ? 0.01 : 1) * (1 + Math.exp(-i / 5)),
        ),
      ),
    );
  await open(dir);
  await ready(page, "loss");
  await hover(page, "loss", 0.94, 0.85);
  await passes(async () => {
    const rows = (await tipRows(page)).rows;
    check(
      rows.some(([name]) => name.includes("r07")),
      "the best run is near the lower edge",
    );
  });
  equal(
    await card(page, "loss").getByText(/below/).count(),
    0,
    "points below the axis",
  );
});

// 6. A group's mean --------------------------------------------------------------------------------------------------

test("truth 6: a group's mean stops where most of its runs have ended, and says how many stand behind it", async ({
  page,
  open,
}) => {
  const dir = temporary();
  for (const [run, n] of [
    ["g/a", 50],
    ["g/b", 50],
    ["g/c", 100],
  ])
    writeRun(
      dir,
      run,
      Array.from({ length: n }, (_, i) => [
        i * 10,
        { loss: run === "g/c" ? 5 : 1 },
      ]),
    );
  await open(dir, link({ runs: { group: "dir" } }));
  await ready(page, "loss");
  await hover(page, "loss", 0.3, 0.5);
  await passes(async () => {
    const tip = await tipRows(page);
    equal(tip.behind[0], 3, "runs behind the line");
    check(Number.isInteger(tip.step), `step ${tip.step}`);
  });
  await hover(page, "loss", 0.55, 0.5);
  await passes(async () => {
    const tip = await tipRows(page);
    equal(tip.step, 490, "the last step that the group has");
  });
});

// 7. Group rows ------------------------------------------------------------------------------------------------------

const groups = () => {
  const dir = temporary();
  for (const group of ["a", "b"])
    for (let i = 0; i < 50; i++)
      writeRun(dir, `${group}/s${String(i).padStart(2, "0")}`, runOf([1, 2]));
  return dir;
};
test("truth 7: one click hides a group of 50, its row has a menu, Shift selects a range", async ({
  page,
  open,
}) => {
  const dir = groups();
  await open(dir, link({ runs: { group: "dir" } }));
  await ready(page, "loss");
  const shown = () => page.locator(".side .foot").textContent();
  await eventually(async () => /100 of 100/.test(await shown()), true, "all");
  await page
    .getByRole("checkbox", { name: "Show a", exact: true })
    .click({ force: true });
  await eventually(async () => /50 of 100/.test(await shown()), true, "half");
  await page
    .getByRole("checkbox", { name: "Show a", exact: true })
    .click({ force: true });
  await eventually(
    async () => /100 of 100/.test(await shown()),
    true,
    "all again",
  );
  const row = page.locator('[data-row="g a"]');
  await row.click({ button: "right" });
  await page.getByRole("menuitem", { name: "Only this group" }).click();
  await eventually(
    async () => /50 of 100/.test(await shown()),
    true,
    "only one group",
  );
  const box = (name) =>
    page.getByRole("checkbox", { name: `Show ${name}`, exact: true });
  await box("s02").first().click({ force: true });
  await box("s06")
    .first()
    .click({ force: true, modifiers: ["Shift"] });
  await eventually(
    async () => /45 of 100/.test(await shown()),
    true,
    "five runs less",
  );
});

// 9. Nothing moves ---------------------------------------------------------------------------------------------------

test("truth 9: a click on the x axis moves no card", async ({ page, open }) => {
  await open(logdir());
  await ready(page);
  await ready(page, "eval/acc");
  const before = await positions(page);
  const box = await plot(page, "train/loss").boundingBox();
  await page.mouse.click(box.x + box.width * 0.5, box.y + box.height - 8);
  await page.locator(".chip", { hasText: "Step" }).waitFor();
  await settled(page);
  equal(await positions(page), before, "where the cards are");
});

test("truth 9: hiding runs reshuffles no section", async ({ page, open }) => {
  const dir = temporary();
  for (let i = 0; i < 5; i++)
    writeRun(dir, `r${i}`, [
      [0, { [`s${i}/one`]: 1, [`s${i}/two`]: 1 }],
      [1, { [`s${i}/one`]: 2, [`s${i}/two`]: 2 }],
    ]);
  await open(dir);
  await ready(page, "s0/one");
  const before = await positions(page);
  await filterRuns(page).fill("r[34]");
  await eventually(() => page.locator("[role=treegrid] [data-row]").count(), 2);
  await settled(page);
  equal(await positions(page), before, "where the cards are");
});

test("truth 9: half an expression empties nothing", async ({ page, open }) => {
  await open(logdir());
  await ready(page);
  await page.locator(".tagf input").fill("loss");
  await eventually(() => page.locator("[data-card]").count(), 1);
  await page.locator(".tagf input").fill("loss(");
  await page.getByText("loss( is not a valid regular expression").waitFor();
  equal(await page.locator("[data-card]").count(), 1, "cards");
  await page.locator(".tagf input").fill("");
  await filterRuns(page).fill("a/");
  const rows = () => page.locator("[role=treegrid] [data-row]").count();
  await eventually(rows, 3);
  await filterRuns(page).fill("a/(");
  await page.getByText("a/( is not a valid regular expression").waitFor();
  equal(await rows(), 3, "runs");
});
