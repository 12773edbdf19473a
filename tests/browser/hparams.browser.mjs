// The hyperparameter page used as a person would: values on screen against the server's table, filters,
// brushes, order, export, curves, importance, and runs that never logged any hyperparameter.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { writeRun } from "./events.mjs";
import {
  axe,
  check,
  close,
  corpus,
  equal,
  eventually,
  numberOf,
  passes,
  serve,
  settled,
  temporary,
  test,
} from "./harness.mjs";

const table = async (logdir, body = {}) => {
  const answer = await fetch(
    `${(await serve(logdir)).replace(/\/$/, "")}/api/v1/hparams/table`,
    {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ rows: "groups", ...body }),
    },
  );
  return answer.json();
};
const rows = (page) => page.locator("tr[data-row]");
const names = (page) =>
  page
    .locator("tr[data-row] td.name")
    .evaluateAll((cells) => cells.map((cell) => cell.textContent.trim()));
const segment = (page, name) =>
  page.getByRole("radio", { name, exact: true }).click();
const column = (page, id) => page.locator(`[data-column="${id}"]`);
const shown = (page) =>
  page.locator("[data-shown]").getAttribute("data-shown").then(Number);
const header = (page, name) =>
  page.locator("th .sortb", { hasText: new RegExp(`^${name}`) });

async function ready(page) {
  await rows(page).first().waitFor();
  await settled(page);
}

/** Sixty trials named by their values, none of which logged hyperparameters; acc depends on lr alone. */
let named;
function sweep() {
  if (named !== undefined) return named;
  named = temporary();
  for (let i = 0; i < 60; i++) {
    const lr = +(10 ** (-4 + (i % 20) / 5)).toPrecision(3);
    const top = 0.9 - 0.05 * (Math.log10(lr) + 2) ** 2;
    writeRun(
      named,
      `lr=${lr}_bs=${[16, 32, 64][i % 3]}_seed=${i}`,
      [0, 10, 20].map((step) => [
        step,
        {
          "val/acc": top * (1 - Math.exp(-(step + 5) / 5)),
          "val/loss": 1 - top,
        },
      ]),
      1.7e9 + i * 60,
    );
  }
  return named;
}

test("hparams: every value of the table equals the server’s", async ({
  page,
  open,
}) => {
  const logs = corpus("hparams_grid");
  await open(logs, "#hparams");
  await ready(page);
  const wanted = await table(logs);
  await eventually(() => rows(page).count(), wanted.total, "trials");
  const heads = (await page.locator("thead th").allInnerTexts()).map((text) =>
    text.replace(/ [↑↓]$/, "").trim(),
  );
  for (const [c, { id, title }] of wanted.columns.entries()) {
    if (id === "name") continue;
    const at = heads.indexOf(
      title || id.replace(/^hparam:|^metric:|:last$/g, ""),
    );
    check(at > 0, `no column for ${id} among ${heads}`);
    for (const [r, name] of wanted.data[0].entries()) {
      const cell = page
        .locator("tr[data-row]", { hasText: name })
        .locator("td")
        .nth(at);
      await eventually(
        async () => {
          await cell.dispatchEvent("pointerover"); // all digits come with the pointer
          return cell.getAttribute("title");
        },
        String(wanted.data[c][r]),
        `${id} of ${name}`,
      );
    }
  }
  await eventually(
    async () => (await names(page))[0],
    "trial-7",
    "the best first",
  );
  equal(await axe(page), [], "accessibility");
});

test("hparams: sort, lists, intervals, expressions and status", async ({
  page,
  open,
}) => {
  const logs = corpus("hparams_raw");
  await open(logs, "#hparams");
  await ready(page);
  const all = await table(logs);
  const at = (id) => all.data[all.columns.findIndex((one) => one.id === id)];
  await header(page, "lr").click();
  const lr = at("hparam:lr");
  const order = all.data[0]
    .map((name, i) => ({ name, lr: lr[i] }))
    .sort((a, b) => (a.lr === null) - (b.lr === null) || a.lr - b.lr)
    .map((one) => one.name);
  await eventually(() => names(page), order, "by lr, missing last");
  await column(page, "hparam:opt")
    .getByRole("checkbox", { name: "Keep opt = sgd" })
    .uncheck({ force: true });
  await eventually(
    () => shown(page),
    at("hparam:opt").filter((one) => one !== "sgd").length,
    "without sgd, with those without a value",
  );
  await page
    .locator(".chip", { hasText: "opt" })
    .getByRole("button", { name: /Remove/ })
    .click();
  await eventually(() => shown(page), all.total, "all again");
  await column(page, "metric:acc:last")
    .getByRole("textbox", { name: "Lowest acc" })
    .fill("0.3");
  await page.keyboard.press("Enter");
  await eventually(
    () => shown(page),
    at("metric:acc:last").filter((one) => typeof one === "number" && one >= 0.3)
      .length,
    "acc ≥ 0.3",
  );
  await column(page, "metric:acc:last")
    .getByRole("textbox", { name: "Lowest acc" })
    .fill("");
  await page.keyboard.press("Enter");
  await eventually(() => shown(page), all.total, "all again");
  const running = page
    .locator("aside .chip", { hasText: /^(done|unknown|failed|running)/ })
    .first();
  const [, n] = /(\d+)$/.exec(await running.innerText());
  await running.click();
  await eventually(
    () => shown(page),
    all.total - Number(n),
    "one status left out",
  );
  await eventually(
    () =>
      Buffer.from(/&v=1\.(.*)$/.exec(page.url())?.[1] ?? "", "base64url")
        .toString()
        .includes('"status"'),
    true,
    "the view is in the link",
  );
  await page.reload();
  await ready(page);
  await eventually(
    () => shown(page),
    all.total - Number(n),
    "the link keeps the view",
  );
  equal(await axe(page), [], "accessibility");
});

test("hparams: columns from names of runs and from files beside them", async ({
  page,
  open,
}) => {
  const logs = temporary();
  writeRun(logs, "lr=0.01_bs=32", [[0, { acc: 0.5 }]]);
  writeRun(logs, "lr=0.1_bs=64", [[0, { acc: 0.7 }]]);
  writeRun(logs, "plain", [[0, { acc: 0.9 }]]);
  writeFileSync(
    join(logs, "plain/config.yaml"),
    "lr: 0.5\nmodel:\n  depth: 18\n",
  );
  await open(logs, "#hparams");
  await ready(page);
  await eventually(
    () => names(page),
    ["plain", "lr=0.1_bs=64", "lr=0.01_bs=32"],
    "trials by acc",
  );
  const cell = async (row, name) => {
    const at = (await page.locator("thead th").allInnerTexts()).findIndex(
      (text) => text.trim().startsWith(name),
    );
    return at < 0
      ? `no column ${name}`
      : page.locator("tr[data-row]").nth(row).locator("td").nth(at).innerText();
  };
  await eventually(() => cell(0, "lr"), "0.50", "lr from the file");
  await eventually(
    () => cell(0, "model.depth"),
    "18",
    "nested value of the file",
  );
  await eventually(() => cell(1, "bs"), "64", "bs from the name");
  await eventually(() => cell(0, "bs"), "", "no value");
});

test(
  "hparams: in a small frame the picture stays, the panel comes when asked for",
  async ({ page, open }) => {
    await open(sweep(), "#hparams");
    await ready(page);
    const hold = page.locator(".hold");
    await eventually(
      async () => Number(await hold.getAttribute("data-painted")) > 0,
      true,
      "painted",
    );
    await eventually(
      () =>
        hold.evaluate(async (element) => {
          const before = element.dataset.painted;
          for (let i = 0; i < 10; i++)
            await new Promise((resolve) => requestAnimationFrame(resolve));
          return Number(element.dataset.painted) - Number(before);
        }),
      0,
      "nothing is painted again and again",
    );
    const width = await hold.evaluate((element) => element.clientWidth);
    await page.getByRole("button", { name: "Columns and filters" }).click();
    await eventually(
      async () =>
        (await hold.evaluate((element) => element.clientWidth)) < width,
      true,
      "the panel stands beside the picture",
    );
  },
  { viewport: { width: 800, height: 600 } },
);

test("hparams: a brush on an axis keeps what lies in it; axes move by keyboard", async ({
  page,
  open,
}) => {
  await open(sweep(), "#hparams");
  await ready(page);
  await page.locator('[data-painted]:not([data-painted="0"])').waitFor();
  const head = page.locator("button.head", { hasText: /^lr/ });
  const lines = page.locator(".lines");
  const [h, l] = [await head.boundingBox(), await lines.boundingBox()];
  const x = h.x + h.width / 2;
  await page.mouse.move(x, l.y + l.height * 0.15);
  await page.mouse.down();
  await page.mouse.move(x, l.y + l.height * 0.5, { steps: 5 });
  await page.mouse.up();
  const all = await table(sweep());
  const lr = all.data[all.columns.findIndex((one) => one.id === "hparam:lr")];
  await passes(async () => {
    const text = await page.locator(".chip.on", { hasText: "lr" }).innerText();
    const ends = text
      .replace(/^lr/, "")
      .split("–")
      .map((part) => numberOf(part.replace(/[≥≤×]/g, "")));
    check(
      ends.every((end) => end > 0),
      `ends of the brush in "${text}"`,
    );
    const kept = lr.filter((value) =>
      ends.length === 2
        ? value >= ends[0] * 0.9995 && value <= ends[1] * 1.0005
        : value >= ends[0] * 0.9995,
    ).length;
    equal(await shown(page), kept, `trials in the brush ${text}`);
    check(
      kept > 0 && kept < 60,
      `a brush that keeps ${kept} of 60 shows nothing`,
    );
  });
  const heads = () => page.locator("button.head .b").allInnerTexts();
  const before = await heads();
  const first = page.locator("button.head").first();
  await first.focus();
  await page.keyboard.press("Alt+ArrowRight");
  await eventually(
    heads,
    [before[1], before[0], ...before.slice(2)],
    "the axes changed places",
  );
  await page.locator("button.head", { hasText: /^lr/ }).click();
  await page.getByRole("menuitemcheckbox", { name: "Linear axis" }).click();
  await page.getByRole("button", { name: "Clear all filters" }).click();
  await eventually(() => shown(page), 60, "cleared");
  equal(await axe(page), [], "accessibility");
});

test("hparams: a trial opens with its curves, goes to Time series, is shown here when chosen there", async ({
  page,
  open,
}) => {
  await open(sweep(), "#hparams");
  await ready(page);
  const name = (await names(page))[0];
  await rows(page).first().locator("td.name").click();
  const trial = page.getByRole("complementary", { name: `Trial ${name}` });
  await eventually(
    () => trial.locator("[data-chart=ready]").count(),
    2,
    "a chart a metric",
  );
  const all = await table(sweep());
  const acc =
    all.data[all.columns.findIndex((one) => one.id === "metric:val/acc:last")][
      all.data[0].indexOf(name)
    ];
  await eventually(
    () =>
      trial
        .locator("dt", { hasText: "val/acc" })
        .locator("xpath=following-sibling::dd[1]")
        .getAttribute("title"),
    String(acc),
    "val/acc",
  );
  equal(await axe(page), [], "accessibility");
  await trial.getByRole("button", { name: "Time series" }).click();
  await eventually(
    () => page.locator("[data-row][aria-selected=true]").count(),
    1,
    "shown there alone",
  );
  await eventually(
    () =>
      Buffer.from(/&v=1\.(.*)$/.exec(page.url())?.[1] ?? "", "base64url")
        .toString()
        .includes(name),
    true,
    "the choice is in the link",
  );
  await page.goto(page.url().replace("#timeseries", "#hparams"));
  await ready(page);
  await segment(page, "Only selected runs");
  await eventually(() => names(page), [name], "only what is shown elsewhere");
});

test("hparams: what is exported is what is shown", async ({ page, open }) => {
  await open(sweep(), "#hparams");
  await ready(page);
  await column(page, "hparam:bs")
    .getByRole("checkbox", { name: "Keep bs = 16" })
    .uncheck({ force: true });
  await eventually(() => shown(page), 40, "without bs = 16");
  const save = async (kind) => {
    await page.getByRole("button", { name: "Export the table" }).click();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("menuitem", { name: kind }).click(),
    ]);
    return [
      download.suggestedFilename(),
      readFileSync(await download.path(), "utf8"),
    ];
  };
  const [csvName, csv] = await save("CSV");
  const lines = csv.trim().split("\r\n");
  equal([csvName, lines.length], ["hparams_table.csv", 41], "CSV");
  await eventually(
    async () => (await names(page)).slice(0, 3),
    lines.slice(1, 4).map((line) => line.split(",")[0]),
    "the same order",
  );
  const [, json] = await save("JSON");
  const all = await table(sweep());
  const parsed = JSON.parse(json);
  const r = all.data[0].indexOf(parsed[0].trial);
  equal(
    parsed[0]["val/acc"],
    all.data[all.columns.findIndex((one) => one.id === "metric:val/acc:last")][
      r
    ],
    "all digits",
  );
  const [, tex] = await save("LaTeX");
  check(
    tex.startsWith("\\begin{tabular}{l") &&
      tex.includes("lr=") &&
      tex.includes("\\_bs="),
    `LaTeX: ${tex.slice(0, 120)}`,
  );
});

test(
  "hparams: importance with its interval, scatter matrix, best trials",
  async ({ page, open }) => {
    await open(sweep(), "#hparams");
    await ready(page);
    await segment(page, "Importance");
    const first = page.locator("tr[data-col]").first();
    await first.waitFor();
    await eventually(
      () => first.getAttribute("data-col"),
      "hparam:lr",
      "what matters most",
    );
    const importance = async (more) =>
      (
        await fetch(
          `${(await serve(sweep())).replace(/\/$/, "")}/api/v1/hparams/importance`,
          {
            method: "POST",
            headers: { "Content-Type": "application/json" },
            body: JSON.stringify({
              metric: "val/acc:last",
              method: "permutation",
              rows: "groups",
              ...more,
            }),
          },
        )
      ).json();
    const answer = await importance({});
    await passes(async () =>
      close(
        Number(await first.locator("td").nth(1).getAttribute("title")),
        answer.columns[0].value,
        1e-12,
        "importance of lr",
      ),
    );
    await page.getByText(/^lr matters most for val\/acc/).waitFor();
    await page.getByText("not significant").first().waitFor();
    await column(page, "hparam:lr").locator("input").last().fill("0.01");
    await column(page, "hparam:lr").locator("input").last().press("Enter");
    await eventually(() => shown(page), 33, "trials up to 0.01");
    const part = await importance({
      filter: [{ col: "hparam:lr", max: 0.01 }],
    });
    equal(part.n, 33, "trials that count");
    await eventually(
      async () =>
        Number(
          await page
            .locator('tr[data-col="hparam:lr"] td')
            .nth(1)
            .getAttribute("title"),
        ),
      part.columns.find((one) => one.col === "hparam:lr").value,
      "importance among those that pass",
    );
    await page.getByText("among the trials that pass: 33 of 60").waitFor();
    await page
      .getByRole("button", { name: /Remove.*lr|lr ≤/ })
      .first()
      .click();
    await eventually(() => shown(page), 60, "all again");
    equal(await axe(page), [], "accessibility of importance");
    await segment(page, "Scatter");
    await page.locator('.dots[data-painted]:not([data-painted="0"])').waitFor();
    const box = await page.locator(".dots").boundingBox();
    await page.mouse.move(box.x + 90, box.y + 20);
    await page.mouse.down();
    await page.mouse.move(box.x + 190, box.y + 100, { steps: 4 });
    await page.mouse.up();
    await eventually(
      async () => (await shown(page)) < 60,
      true,
      "a box keeps what lies in it",
    );
    equal(await axe(page), [], "accessibility of the scatter matrix");
    await page.getByRole("button", { name: "Clear all filters" }).click();
    await segment(page, "Best");
    const all = await table(sweep());
    const acc =
      all.data[
        all.columns.findIndex((one) => one.id === "metric:val/acc:last")
      ];
    const best = all.data[0][acc.indexOf(Math.max(...acc))];
    await page
      .getByText(new RegExp(`val/acc: .* by ${best.replace(/[.=]/g, ".")}`))
      .first()
      .waitFor();
    await page.getByRole("button", { name: /^With/ }).click();
    await page.getByRole("option", { name: "val/loss" }).click();
    await page
      .getByRole("region", { name: "Trade-off" })
      .last()
      .locator("tbody tr")
      .first()
      .waitFor();
    equal(await axe(page), [], "accessibility of the best");
  },
  { dark: true },
);

test("hparams: no hyperparameters is said in words", async ({
  page,
  open,
}) => {
  const logs = temporary();
  writeRun(logs, "one", [[0, { loss: 1 }]]);
  await open(logs, "#hparams");
  await page
    .getByText(/hyper-?parameter|config/i)
    .first()
    .waitFor();
  equal(await axe(page), [], "accessibility");
});
