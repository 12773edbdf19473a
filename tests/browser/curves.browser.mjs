// PR curves, custom scalars and meshes as a person uses them; numbers on screen against the server's. What
// media.browser.mjs tests about them (average precision, saving a chart, cameras) is not repeated here.
import {
  chmodSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
} from "node:fs";
import { join } from "node:path";
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

function writable(path) {
  chmodSync(path, statSync(path).mode | 0o200);
  if (statSync(path).isDirectory())
    for (const name of readdirSync(path)) writable(join(path, name));
}
function copy(...names) {
  const out = temporary();
  for (const name of names)
    cpSync(corpus(name), join(out, name), { recursive: true });
  writable(out);
  return out;
}
function regex(source) {
  try {
    return new RegExp(source);
  } catch {
    return null;
  }
}
const get = async (logdir, path) =>
  (
    await fetch(`${(await serve(logdir)).replace(/\/$/, "")}/api/v1/${path}`)
  ).json();
const card = (page, name) => page.getByRole("region", { name, exact: true });

test("PR curves: a point of the curve under the keys, one step for all and one of its own, zoom and back", async ({
  page,
  open,
}) => {
  const logs = corpus("pr_curves_custom_scalars");
  await open(logs, "#pr_curves");
  const tag = (await get(logs, "tags")).tags.find(
    (one) => one.kind === "pr_curve",
  ).name;
  const { runs } = await get(logs, `pr_curves?tag=${encodeURIComponent(tag)}`);
  const here = card(page, tag);
  const plot = here.getByRole("application");
  await plot.waitFor();
  await settled(page);
  await plot.focus();
  await page.keyboard.press("Shift+ArrowLeft");
  const [one] = runs;
  const rows = () => here.locator(".tip td").allInnerTexts();
  await passes(async () => {
    const cells = await rows();
    equal(cells.length, 14, "threshold, precision, recall and four counts");
    const shown = Object.fromEntries(
      cells
        .map((cell, i) => [cell, cells[i + 1]])
        .filter((_, i) => i % 2 === 0),
    );
    const index = one.thresholds.findIndex(
      (value) => Math.abs(value - numberOf(Object.values(shown)[0])) < 1e-4,
    );
    check(index >= 0, `no threshold ${Object.values(shown)[0]}`);
    const values = Object.values(shown).map(numberOf);
    for (const [k, key] of [
      "thresholds",
      "precision",
      "recall",
      "tp",
      "fp",
      "tn",
      "fn",
    ].entries())
      close(values[k], one[key][index], k < 3 ? 1e-4 : 0.5, key);
  });
  const box = await plot.boundingBox();
  await page.mouse.move(box.x + box.width * 0.4, box.y + box.height * 0.3);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.7, box.y + box.height * 0.6, {
    steps: 4,
  });
  await page.mouse.up();
  await here.hover();
  await here
    .getByRole("button", { name: /reset|whole|0 … 1|square/i })
    .first()
    .click();
  const steps = page
    .getByRole("complementary")
    .filter({ hasText: one.run.split("/").at(-1) })
    .last();
  if (one.steps.length > 1 && (await steps.getByRole("slider").count()) > 0) {
    await steps.getByRole("slider").first().press("Home");
    await eventually(
      () =>
        here
          .locator("tbody tr")
          .first()
          .locator("td")
          .last()
          .innerText()
          .then(numberOf),
      one.steps[0],
      "its own step",
    );
  }
  equal(await axe(page), [], "accessibility");
});

test(
  "custom scalars: lines are the tags that match, margins too; a broken expression is said",
  async ({ page, open }) => {
    const logs = copy("pr_curves_custom_scalars");
    await open(logs, "#custom_scalars");
    const { layouts } = await get(logs, "layouts");
    const tags = (await get(logs, "tags")).tags.filter(
      (one) => one.kind === "scalar",
    );
    const category = layouts.find((one) => !one.closed);
    for (const chart of category.charts) {
      const here = card(page, `${category.title}: ${chart.title}`);
      await here.waitFor();
      const expressions = (chart.multiline?.tags ?? []).map((source) =>
        regex(source),
      );
      if (expressions.includes(null))
        await here
          .getByText(/not a regular expression|cannot be read|expression/i)
          .first()
          .waitFor();
      const wanted = chart.multiline
        ? tags.filter((tag) => expressions.some((one) => one?.test(tag.name)))
            .length
        : null;
      if (wanted !== null && wanted > 0) {
        await here.locator("[data-chart=ready]").waitFor();
        await eventually(
          async () =>
            /\d/.test(
              await here
                .locator("[role=img]")
                .first()
                .getAttribute("aria-label"),
            ),
          true,
          "what the chart says",
        );
      }
    }
    await page.getByRole("button", { name: "New chart" }).first().click();
    await page.getByRole("combobox", { name: "Category" }).fill("Mine");
    await page.getByRole("textbox", { name: "Title" }).fill("Broken");
    await page.getByRole("combobox", { name: "Tag expression 1" }).fill("(");
    await page
      .getByText(/not a regular expression|no regular expression|expression/i)
      .last()
      .waitFor();
    equal(await axe(page), [], "accessibility of the editor");
    await page
      .getByRole("combobox", { name: "Tag expression 1" })
      .fill(tags[0].name);
    await page.getByRole("button", { name: "Save chart" }).click();
    const mine = card(page, "Mine: Broken");
    await mine.locator("[data-chart=ready]").waitFor();
    const file = join(logs, ".sonde/sidecar.json");
    await eventually(
      () =>
        existsSync(file) &&
        JSON.parse(readFileSync(file, "utf8")).layouts?.[0]?.charts[0].title,
      "Broken",
      "the sidecar",
    );
    await mine.hover();
    await mine.getByRole("button", { name: "More actions" }).click();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page
        .getByRole("menuitem", { name: /^All points as CSV|CSV/ })
        .first()
        .click(),
    ]);
    const lines = readFileSync(await download.path(), "utf8")
      .trim()
      .split(/\r?\n/);
    const points = (
      await (
        await fetch(
          `${(await serve(logs)).replace(/\/$/, "")}/api/v1/export?format=csv&tag=${encodeURIComponent(tags[0].name)}`,
        )
      ).text()
    )
      .trim()
      .split(/\r?\n/);
    equal(lines.length, points.length, "every point is exported");
    const plot = mine.locator("[data-chart=ready]");
    const small = await plot.boundingBox();
    await mine.getByRole("button", { name: "Full size" }).click();
    await eventually(
      async () => (await plot.boundingBox()).height > small.height * 1.5,
      true,
      "the chart is large",
    );
    await mine.getByRole("button", { name: "More actions" }).click();
    await page.getByRole("menuitemcheckbox", { name: "Log y axis" }).click();
    await mine.getByText(/· log/).waitFor();
    const box = await plot.boundingBox();
    await page.mouse.move(box.x + box.width * 0.4, box.y + box.height * 0.3);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.7, box.y + box.height * 0.6, {
      steps: 4,
    });
    await page.mouse.up();
    await mine.getByRole("button", { name: "Reset zoom" }).click();
    await eventually(
      () => mine.getByRole("button", { name: "Reset zoom" }).count(),
      0,
      "the whole is shown",
    );
    equal(await axe(page), [], "accessibility");
  },
  { dark: true },
);

test("mesh: every step, points and triangles of the data, PLY download", async ({
  page,
  open,
}) => {
  const logs = corpus("mesh");
  await open(logs, "#mesh");
  const tag = (await get(logs, "tags")).tags
    .filter((one) => one.kind === "mesh")
    .map((one) => one.name);
  check(tag.length > 0, "no mesh");
  const runs = (await get(logs, "runs")).runs.map((one) => one.name);
  const first = page.locator("section.card").first();
  await first.locator("canvas").waitFor();
  await settled(page);
  const label = await first.getAttribute("aria-label");
  const [, name] = /^(\S+) of/.exec(label);
  const info = await get(
    logs,
    `mesh?run=${encodeURIComponent(runs[0])}&tag=${encodeURIComponent(name)}`,
  );
  const answer = await (
    await fetch(
      `${(await serve(logs)).replace(/\/$/, "")}/api/v1/mesh?run=${encodeURIComponent(runs[0])}&tag=${encodeURIComponent(name)}&step=${info.steps.at(-1)}`,
    )
  ).arrayBuffer();
  const head = JSON.parse(
    Buffer.from(answer, 8, new DataView(answer).getUint32(4, true)).toString(),
  );
  const [points, faces] = [
    (head.cols.vertex?.n ?? 0) / 3,
    (head.cols.face?.n ?? 0) / 3,
  ];
  await first.getByText(new RegExp(`${points} points`)).waitFor();
  if (faces > 0)
    await first.getByText(new RegExp(`${faces} triangles`)).waitFor();
  await first.hover();
  await first.getByRole("button", { name: "More actions" }).click();
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("menuitem", { name: /PLY/ }).click(),
  ]);
  const ply = readFileSync(await download.path(), "utf8");
  check(
    ply.startsWith("ply") && ply.includes(`element vertex ${points}`),
    `PLY: ${ply.slice(0, 80)}`,
  );
  if (info.steps.length > 1) {
    await page
      .getByRole("slider", { name: "Step", exact: true })
      .first()
      .press("Home");
    await settled(page);
  }
  equal(await axe(page), [], "accessibility");
});
