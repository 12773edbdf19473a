// A log directory whose every number is known, and the hands of a person on the time series page.
import { writeRun } from "./events.mjs";
import {
  eventually,
  numberOf,
  passes,
  settled,
  temporary,
} from "./harness.mjs";

export const N = 200;
export const NAMES = ["a/s0", "a/s1", "a/s2", "b/s0", "b/s1", "b/s2"];
export const value = (run, step) =>
  Math.fround(
    2 * Math.exp(-step / 60) + 0.1 * run + 0.05 * Math.sin(step * (run + 1)),
  );
/** What the file holds: run "b/s1" has NaN at points 100 … 104. */
export const stored = (run, i) =>
  run === 4 && i >= 100 && i < 105 ? NaN : value(run, i);

let logs;
/** Six runs, three tags, steps 0, 10, 20 … */
export function logdir() {
  if (logs !== undefined) return logs;
  logs = temporary();
  NAMES.forEach((name, run) => {
    const points = [];
    for (let i = 0; i < N; i++)
      points.push([
        i * 10,
        {
          "train/loss": stored(run, i),
          "train/epoch": Math.floor(i / 20),
          "eval/acc": 1 - value(run, i) / 3,
        },
      ]);
    writeRun(logs, name, points, 1.7e9 + run * 1000);
  });
  return logs;
}

/** TensorBoard's debiased moving average, written from its definition. */
export function ema(values, weight) {
  let [last, n] = [0, 0];
  return values.map((y) => {
    if (!Number.isFinite(y)) return y;
    last = last * weight + (1 - weight) * y;
    n++;
    return last / (1 - weight ** n);
  });
}
export const reference = (run, weight) =>
  ema(
    Array.from({ length: N }, (_, i) => stored(run, i)),
    weight,
  );

/** Tags of a chart of several are joined by line ends. */
export const card = (page, tag) =>
  page.locator(`[data-card="${tag.replaceAll("\n", "\\a ")}"]`).first();
export const plot = (page, tag) =>
  card(page, tag).locator("[data-chart=ready]");

/** The chart has its curves and nothing more is on its way. */
export async function ready(page, tag = "train/loss") {
  await plot(page, tag).waitFor();
  await settled(page);
}

export async function hover(page, tag, fx, fy) {
  await eventually(
    async () => {
      const box = await plot(page, tag).boundingBox();
      await page.mouse.move(box.x + box.width * fx, box.y + box.height * fy);
      return page.locator(".tip").isVisible();
    },
    true,
    "the tooltip",
  );
}

/** Repeats `look(tip)` until it passes: what is shown follows the pointer and new data. */
export function tipPasses(page, look) {
  return passes(async () => look(await tipRows(page)));
}

export async function tipRows(page) {
  return page
    .evaluate((names) => {
      const head = document.querySelector(".tip .t .b")?.textContent ?? "";
      const rows = [...document.querySelectorAll(".tip tbody tr")].map(
        (tr) => ({
          cells: [...tr.querySelectorAll("td")].map((td) =>
            td.textContent.trim(),
          ),
          exact: tr.querySelector("td:last-child")?.title ?? "",
        }),
      );
      return {
        head,
        rows: rows.map(({ cells: [name, ...cells] }) => [
          (name ?? "").replace(/\s*n \d+$/, ""),
          ...cells,
        ]),
        behind: rows.map(({ cells: [name] }) =>
          Number(/n (\d+)$/.exec(name ?? "")?.[1] ?? 0),
        ), // runs that a group's line is made of
        exact: rows.map((row) => row.exact),
        columns: document.querySelectorAll(".tip th").length,
        names,
      };
    }, NAMES)
    .then((tip) => ({ ...tip, step: numberOf(tip.head.replace("Step", "")) }));
}

/** Chooses in a select of the settings, by the row's label. */
export async function choose(page, row, option) {
  await page.mouse.move(5, 5);
  await page
    .locator(".insp .opt")
    .filter({ has: page.getByText(row, { exact: true }) })
    .first()
    .locator(".sel")
    .click();
  await page.getByRole("option", { name: option, exact: true }).click();
  await settled(page);
}

/** A drag over the plot, in shares of its box. */
export async function drag(page, tag, from, to) {
  const box = await plot(page, tag).boundingBox();
  await page.mouse.move(
    box.x + box.width * from[0],
    box.y + box.height * from[1],
  );
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * to[0], box.y + box.height * to[1], {
    steps: 4,
  });
  await page.mouse.up();
}

export const chip = (page, text) => page.locator(".chip", { hasText: text });
/** The numbers of a chip such as "Zoom 720 – 1 160". */
export async function chipNumbers(page, text) {
  return (
    (await chip(page, text).textContent()).match(/[\d\u202f.]+/g) ?? []
  ).map(numberOf);
}

export const filterRuns = (page) =>
  page.getByRole("textbox", { name: /Filter runs/ });
export const filterTags = (page) =>
  page.getByRole("textbox", { name: "Filter tags" });

/** The cells of the run table: name and columns, top to bottom. */
export const tableRows = (page) =>
  page
    .locator("[role=treegrid] [data-row]")
    .evaluateAll((rows) =>
      rows.map((row) =>
        [...row.querySelectorAll("[role=gridcell]")]
          .slice(2)
          .map((cell) => cell.textContent.replace(/\s+/g, " ").trim()),
      ),
    );

/** Opens the export dialog of a card; resolves to the text or bytes of what is saved. */
export async function exported(page, tag, format, prepare = async () => {}) {
  const { readFileSync } = await import("node:fs");
  await plot(page, tag).focus();
  await page.keyboard.press("e");
  await page.getByRole("radio", { name: format, exact: true }).click();
  await prepare();
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Export", exact: true }).click();
  const bytes = readFileSync(await (await download).path());
  await page.getByRole("dialog").waitFor({ state: "detached" }); // what is behind it takes no keys
  return format === "PNG" ? bytes : bytes.toString("utf8");
}
