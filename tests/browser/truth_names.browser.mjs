// What is declared is shown as declared, names and numbers can be told apart: one test a fault.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
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
import { ready, tableRows } from "./known.mjs";

const heads = (page) =>
  page
    .locator("th .sortb")
    .evaluateAll((all) =>
      all.map((one) => one.textContent.replace(/[↑↓]/g, "").trim()),
    );
const series = (values, tag = "loss") =>
  values.map((value, i) => [i, { [tag]: value }]);

// 8. Display names and order of the writer ----------------------------------------------------------------------------

test("truth 8: hyperparameters and metrics keep the names and the order that their writer declared", async ({
  page,
  open,
}) => {
  await open(corpus("hparams_experiment_raw"), "#hparams");
  await page.locator("tr[data-row]").first().waitFor();
  await settled(page);
  const shown = await heads(page);
  equal(
    shown.filter((name) =>
      ["Learning rate", "lr", "opt", "Accuracy", "acc", "Eval acc"].includes(
        name,
      ),
    ),
    ["Learning rate", "opt", "Accuracy", "Eval acc"],
    "columns",
  );
});

test("truth 8: the declared metrics are the columns, no other", async ({
  page,
  open,
}) => {
  await open(corpus("hparams_grid"), "#hparams");
  await page.locator("tr[data-row]").first().waitFor();
  await settled(page);
  const shown = await heads(page);
  check(shown.includes("val loss"), `no “val loss” in ${shown}`);
  check(!shown.includes("epoch_loss"), `the tag's name in ${shown}`);
  check(shown.includes("Dropout"), `no “Dropout” in ${shown}`);
});

test("truth 8: a chart has the display name of its tag, and the tag behind it", async ({
  page,
  open,
}) => {
  await open(corpus("v1_plugin_ops"), "");
  await page.locator("[data-card]").first().waitFor();
  await settled(page);
  const said = await page.evaluate(async () => {
    const { tags } = await (await fetch("api/v1/tags")).json();
    return tags.filter(
      (tag) => tag.kind === "scalar" && (tag.title ?? "") !== "",
    );
  });
  check(said.length > 0, "no display name in these logs");
  for (const tag of said)
    await eventually(
      () =>
        page
          .locator(`[data-card="${tag.name}"] h3`)
          .first()
          .evaluate((head) => [
            head.textContent.replace(/\s+/g, " ").trim(),
            head.title,
          ]),
      [tag.title, tag.name],
      tag.name,
    );
});

// 10. Names and numbers -----------------------------------------------------------------------------------------------

/** The text of each name that lies inside its cell: what is under an ellipsis cannot be read. */
const readable = (page) =>
  page.locator("[role=treegrid] [data-row] .mid").evaluateAll((names) =>
    names.map((name) => {
      const cell = name.getBoundingClientRect();
      const walker = document.createTreeWalker(name, NodeFilter.SHOW_TEXT);
      let text = "";
      for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const part = node.parentElement;
        const holder = part.getBoundingClientRect();
        const cut = part.scrollWidth > part.clientWidth ? 6 : 0;
        const right = Math.min(holder.right - cut, cell.right) + 0.5;
        for (let i = 0; i < node.length; i++) {
          const range = document.createRange();
          range.setStart(node, i);
          range.setEnd(node, i + 1);
          if (range.getBoundingClientRect().right <= right) text += node.data[i];
        }
      }
      return text;
    }),
  );

test("truth 10: names that are cut still differ, and a wider column is remembered", async ({
  page,
  open,
}) => {
  const dir = temporary();
  for (const seed of [0, 1, 2])
    for (const lr of ["0.1", "0.01"])
      writeRun(
        dir,
        `projects/vision/resnet50_imagenet_lr${lr}_seed${seed}_augmented_cosine_schedule`,
        series([1, 2]),
      );
  await open(dir);
  await ready(page, "loss");
  const names = await readable(page);
  equal(names.length, 6, "runs");
  equal(new Set(names).size, 6, `what can be read: ${names.join(", ")}`);
  check(!names[0].includes("projects"), "the common folder is dropped");
  await page.getByRole("separator").first().focus();
  for (let i = 0; i < 4; i++) await page.keyboard.press("ArrowRight");
  const width = () =>
    page
      .locator(".side")
      .first()
      .evaluate((side) => side.clientWidth);
  const wide = await width();
  await page.reload();
  await ready(page, "loss");
  equal(await width(), wide, "the column after a reload");
});

test("truth 10: names that differ in their middle and at their end can be told apart", async ({
  page,
  open,
}) => {
  const dir = temporary();
  for (let seed = 0; seed < 12; seed++)
    for (const lr of ["0.1", "0.003"])
      writeRun(
        dir,
        `sweep/resnet50_imagenet_lr${lr}_wd0.0001_seed${seed}`,
        [0, 1].map((step) => [step, { "val/loss": 1, "val/accuracy": 0.5 }]),
      );
  await open(dir);
  await ready(page, "val/loss");
  await page.locator("[role=treegrid] [data-row]").nth(20).waitFor();
  const names = await readable(page);
  equal(new Set(names).size, names.length, names.join(", "));
});

test("truth 10: the run table takes Keras' epoch columns before evaluation_*, and −0.00846 is not −0", async ({
  page,
  open,
}) => {
  const dir = temporary();
  for (const [run, loss] of [
    ["a", -0.00846],
    ["b", 12.5],
  ])
    writeRun(dir, run, [
      [
        0,
        {
          epoch_loss: loss,
          epoch_accuracy: 0.5,
          evaluation_loss_vs_iterations: 1,
          evaluation_accuracy_vs_iterations: 1,
        },
      ],
      [
        1,
        {
          epoch_loss: loss,
          epoch_accuracy: 0.5,
          evaluation_loss_vs_iterations: 1,
          evaluation_accuracy_vs_iterations: 1,
        },
      ],
    ]);
  await open(dir);
  await ready(page, "epoch_loss");
  equal(
    await page
      .locator("[role=columnheader] .hb[title]")
      .evaluateAll((all) => all.map((one) => one.title)),
    ["epoch_loss, last", "epoch_accuracy, last"],
    "columns",
  );
  await eventually(
    async () => (await tableRows(page))[0][1],
    "−0.0085",
    "a small negative value beside a large one",
  );
});

const floats = () => {
  const dir = temporary();
  for (let i = 0; i < 24; i++) {
    const lr = 0.1 + i * 0.0123456789012345;
    writeRun(dir, `t${i}`, series([0.3, 1 / 3 + i * 0.01], "val/acc"));
    writeFileSync(
      join(dir, `t${i}`, "config.json"),
      JSON.stringify({
        lr,
        wd: [0.1, 0.30000000000000004][i % 2],
        drop: (i * 7919) % 13,
      }),
    );
  }
  return dir;
};
test("truth 10: no page of hyperparameters shows a number of 17 digits or an importance of −0.00", async ({
  page,
  open,
}) => {
  await open(floats(), "#hparams");
  await page.locator("tr[data-row]").first().waitFor();
  for (const name of [
    "Table",
    "Parallel coordinates",
    "Scatter matrix",
    "Importance",
    "Best",
  ]) {
    const radio = page.getByRole("radio", { name, exact: true });
    if ((await radio.count()) === 0) continue;
    await radio.click();
    await settled(page);
    const text = await page.locator("main").innerText();
    equal(/\d[.]\d{9,}/.exec(text)?.[0], undefined, `${name}: long numbers`);
    equal(
      /[−-]0\.0+(?!\d)/.exec(text)?.[0],
      undefined,
      `${name}: a signed nothing`,
    );
  }
});
