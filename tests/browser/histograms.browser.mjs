// Histograms that are not as a tidy run writes them: steps that go back, steps without values, a thousand steps,
// more runs than one plane holds, a narrow window.
import { readFileSync } from "node:fs";
import {
  axe,
  check,
  equal,
  eventually,
  passes,
  settled,
  temporary,
  test,
} from "./harness.mjs";
import { writeRun } from "./events.mjs";

const at = (middle) => ({
  histogram: [
    middle - 1,
    middle + 1,
    [
      [middle, 10],
      [middle + 1, 10],
    ],
  ],
});
const EMPTY = { histogram: [0, 0, []] };
const STEPS = 1000;
const RUNS = 30;

let logs;
function logdir() {
  if (logs !== undefined) return logs;
  logs = temporary();
  writeRun(logs, "odd", [
    ...[0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 50, 60, 70].map((step) => [
      step,
      { back: at(step) },
    ]),
    ...[0, 1, 2, 3].map((step) => [
      step,
      { holes: step % 2 === 1 ? EMPTY : at(5) },
    ]),
    ...Array.from({ length: STEPS }, (_, step) => [step, { many: at(step) }]),
  ]);
  for (let i = 0; i < RUNS; i++)
    writeRun(logs, `run_${String(i).padStart(2, "0")}`, [
      [0, { joint: at(i) }],
      [1, { joint: at(i + 1) }],
    ]);
  return logs;
}

const card = (page, name) => page.getByRole("region", { name, exact: true });
const segment = (page, name) =>
  page.getByRole("radio", { name, exact: true }).click();
const filter = (page, text) =>
  page.getByRole("textbox", { name: "Filter tags" }).fill(text);
const menu = async (here, page, role, name) => {
  await here.getByRole("button", { name: "More actions" }).click();
  await page.getByRole(role, { name }).click();
};
const hover = async (page, here, x, y) => {
  const box = await here.locator("canvas").boundingBox();
  await page.mouse.move(
    box.x + (x < 0 ? box.width + x : x),
    box.y + y * box.height,
  );
};

test("histograms: steps that go back stay inside the plot", async ({
  page,
  open,
}) => {
  await open(logdir(), "#histograms");
  await filter(page, "^back$");
  const here = card(page, "back of odd");
  await here.locator(".foot").getByText("step 90").waitFor();
  await segment(page, "Heat map");
  await settled(page);
  await hover(page, here, -16, 0.5);
  await here.locator(".tip").getByText("step 90").waitFor(); // the last column is the greatest step
  check(
    /^0\s+\d/.test(await here.locator(".legend").innerText()),
    "numbers at the colour bar",
  );
  await segment(page, "Offset");
  await settled(page);
  await hover(page, here, 200, 0.91);
  await here.locator(".tip").getByText("step 90").waitFor();
  equal(await axe(page), [], "accessibility");
});

test("histograms: a step without values is a gap, not 0", async ({
  page,
  open,
}) => {
  await open(logdir(), "#distributions");
  await filter(page, "^holes$");
  const here = card(page, "holes of odd");
  await here.locator(".foot").getByText("values").waitFor();
  await here.getByRole("application").press("ArrowLeft");
  await eventually(
    async () =>
      new Set(await here.locator(".tip tbody td:nth-child(2)").allInnerTexts()),
    new Set(["—"]),
    "percentiles of nothing",
  );
  await menu(here, page, "menuitemcheckbox", "Show as table");
  await eventually(
    () => here.locator("tbody tr").nth(1).locator("td").allInnerTexts(),
    ["1", "0", "—", "—", "—", "—"],
    "figures of nothing",
  );
});

test("histograms: table and files hold every step", async ({ page, open }) => {
  await open(logdir(), "#histograms");
  await filter(page, "^many$");
  const here = card(page, "many of odd");
  await here.getByText(/160 of 1.000 steps/).waitFor();
  for (const [what, lines] of [
    ["Statistics", STEPS],
    ["Bins", STEPS * 60],
  ]) {
    const [saved] = await Promise.all([
      page.waitForEvent("download"),
      menu(here, page, "menuitem", `${what} of odd as CSV`),
    ]);
    const text = readFileSync(await saved.path(), "utf8")
      .trim()
      .split("\n");
    equal(text.length, lines + 1, `lines of ${what}`);
    equal(text.at(-1).split(",")[0], String(STEPS - 1), "the last step");
  }
  await menu(here, page, "menuitemcheckbox", "Show as table");
  await eventually(
    () => here.locator("table.t").getAttribute("aria-rowcount"),
    String(STEPS),
    "rows",
  );
});

test("histograms: more runs than a plane holds are counted, the figures have a name", async ({
  page,
  open,
}) => {
  await open(logdir(), "#distributions");
  await filter(page, "^joint$");
  await page.getByRole("button", { name: /^Charts/ }).click();
  await page.getByRole("option", { name: "All runs in one card" }).click();
  const here = card(page, "joint");
  await here.getByText("24 of 30 runs; hide some to see others").waitFor();
  await here.locator(".foot").getByText("run_00").waitFor();
  await settled(page);
  await here.getByRole("application").hover();
  await passes(async () => {
    const foot = await here.locator(".foot").innerText();
    const [, run] = /run_(\d+)/.exec(foot) ?? [];
    check(
      run !== undefined &&
        (await here.locator(".tip").innerText()).includes(`run_${run}`),
      `tip and foot speak of one run: ${foot}`,
    );
  });
});

for (const [width, height] of [
  [800, 600],
  [500, 700],
]) {
  test(
    `histograms: every control can be reached at ${width} × ${height}`,
    async ({ page, open }) => {
      await open(logdir(), "#histograms");
      await filter(page, "^joint$");
      await segment(page, "Heat map");
      for (const name of ["Values", "Colour"])
        await page
          .getByRole("button", { name: new RegExp(`^${name}`) })
          .last()
          .click({ trial: true });
      await segment(page, "Overlay");
      await page.getByRole("button", { name: /^Charts/ }).click();
      await page.getByRole("option", { name: "All runs in one card" }).click();
      await card(page, "joint").waitFor();
      equal(await axe(page), [], "accessibility");
    },
    { viewport: { width, height } },
  );
}
