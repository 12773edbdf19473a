// The PyTorch pages used as a person would, on the repository's own captures of a small model on a CPU: numbers on
// screen are those of the API, which has tests of its own against recorded answers.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import {
  api,
  column,
  hash,
  plain,
  q,
  region,
  report,
  rowsOf,
  stateOf,
  tableOf,
} from "./captures.mjs";
import {
  axe,
  check,
  close,
  equal,
  eventually,
  passes,
  ROOT,
  settled,
  temporary,
  test,
} from "./harness.mjs";

const FULL = "train/full";
const MODULES = "train/modules";
const RANKS = "train/ranks";
let own;
/** Captures with memory and call stacks, with modules alone, and of two ranks. */
function logdir() {
  if (own !== undefined) return own;
  own = temporary();
  for (const [name, file, worker] of [
    ["full", "torch_cpu_full", "worker0"],
    ["modules", "torch_cpu_modules", "worker0"],
    ["ranks", "torch_gloo_2ranks", "worker0"],
    ["ranks", "torch_gloo_2ranks", "worker1"],
  ]) {
    const folder = join(own, "train/plugins/profile", name);
    mkdirSync(folder, { recursive: true });
    writeFileSync(
      join(folder, `${worker}.pt.trace.json`),
      gunzipSync(
        readFileSync(
          join(
            ROOT,
            "tests/data/profile",
            `${file}.${worker}.pt.trace.json.gz`,
          ),
        ),
      ),
    );
  }
  return own;
}
async function show(open, page, tool, view = { session: FULL }) {
  await open(logdir(), hash({ tool, ...view }));
  await page.locator(".scroll .card").first().waitFor();
  await settled(page);
}
/** A size as the page writes it, by its definition: binary units, one digit below 100. */
function size(bytes) {
  let [value, unit] = [Math.abs(bytes), 0];
  for (; value >= 1023.5; unit++) value /= 1024;
  return `${bytes < 0 ? "-" : ""}${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${["B", "KiB", "MiB", "GiB"][unit]}`;
}
/** µs as the page writes them: the unit that fits, four digits without trailing zeros. */
function time(us) {
  const [factor, unit] =
    us >= 999.5e3
      ? [1e-6, "s"]
      : us >= 999.5
        ? [1e-3, "ms"]
        : us >= 0.9995
          ? [1, "µs"]
          : [1e3, "ns"];
  return us === 0
    ? "0 s"
    : `${String(Number((us * factor).toPrecision(4)))} ${unit}`;
}

test("pytorch: the memory curve reads what the server says at the pointer", async ({
  page,
  open,
}) => {
  await show(open, page, "torch.memory");
  const points = rowsOf(
    await report(logdir(), FULL, "torch.memory"),
    "curve_CPU",
  );
  const peak = points.reduce((best, point) =>
    point.allocated > best.allocated ? point : best,
  );
  const card = region(page, "CPU memory over time");
  await eventually(
    async () =>
      plain(await card.getByRole("img").getAttribute("aria-label")).includes(
        `peak of ${size(peak.allocated)}`,
      ),
    true,
    "the peak is said",
  );
  await eventually(
    async () =>
      plain(await page.locator(".figures dd.big").first().innerText()),
    size(peak.allocated),
    "figure of the peak",
  );
  const box = await card.locator("canvas").boundingBox();
  const [first, last] = [points[0].time, points.at(-1).time];
  for (const share of [0.15, 0.5, 0.85]) {
    await page.mouse.move(box.x + 64 + share * (box.width - 76), box.y + 60);
    const at = first + share * (last - first);
    const point = points.findLast((one) => one.time <= at);
    await passes(async () =>
      equal(
        plain(await card.locator(".tip").first().innerText()).includes(
          size(point.allocated),
        ),
        true,
        `allocated at ${at}`,
      ),
    );
  }
});

test("pytorch: a stretch dragged on the curve limits the tables to it, and stays in the link", async ({
  page,
  open,
}) => {
  await show(open, page, "torch.memory");
  const whole = await report(logdir(), FULL, "torch.memory");
  const card = region(page, "CPU memory over time");
  const count = async () =>
    plain(await page.locator("[data-table=events] .head .dim").innerText());
  await eventually(
    count,
    `${tableOf(whole, "events").total} rows`,
    "all allocations",
  );
  const box = await card.locator("canvas").boundingBox();
  await page.mouse.move(box.x + 64 + 0.1 * (box.width - 76), box.y + 80);
  await page.mouse.down();
  await page.mouse.move(box.x + 64 + 0.3 * (box.width - 76), box.y + 90, {
    steps: 4,
  });
  await page.mouse.up();
  const times = rowsOf(whole, "curve_CPU").map((point) => point.time);
  const at = (share) => times[0] + share * (times.at(-1) - times[0]);
  await passes(() => {
    const { begin_ms, end_ms } = stateOf(page).ask;
    close(Number(begin_ms), at(0.1), (times.at(-1) - times[0]) * 0.01, "begin");
    close(Number(end_ms), at(0.3), (times.at(-1) - times[0]) * 0.01, "end");
  });
  const { begin_ms, end_ms } = stateOf(page).ask;
  const part = await report(
    logdir(),
    FULL,
    "torch.memory",
    `&begin_ms=${begin_ms}&end_ms=${end_ms}`,
  );
  check(
    tableOf(part, "events").total < tableOf(whole, "events").total,
    "fewer allocations",
  );
  await eventually(
    count,
    `${tableOf(part, "events").total} rows`,
    "allocations of the stretch",
  );
  const first = tableOf(part, "operators").rows[0];
  await eventually(
    async () =>
      plain(
        await page
          .locator("[data-table=operators] tbody tr")
          .first()
          .locator("td")
          .nth(1)
          .innerText(),
      ),
    first[1],
    "first operator of the stretch",
  );
  await page.getByRole("button", { name: "Show all" }).click();
  await eventually(
    count,
    `${tableOf(whole, "events").total} rows`,
    "all again",
  );
  equal(await axe(page), [], "accessibility");
});

test("pytorch: sizes in the tables read like sizes, whatever their sign", async ({
  page,
  open,
}) => {
  await show(open, page, "torch.memory");
  const table = tableOf(
    await report(logdir(), FULL, "torch.memory"),
    "operators",
  );
  const heads = await page
    .locator("[data-table=operators] thead th")
    .allInnerTexts();
  const [at, shown] = [
    column(table, "self_increase"),
    heads.findIndex((head) => head.startsWith("Self increase")),
  ];
  check(
    table.rows.some((row) => row[at] < 0),
    "the capture has an operator that frees more than it takes",
  );
  await page
    .locator("[data-table=operators]")
    .getByRole("button", { name: /^Self increase/ })
    .click();
  const least = Math.min(...table.rows.map((row) => row[at]));
  await eventually(
    async () =>
      plain(
        await page
          .locator("[data-table=operators] tbody tr")
          .first()
          .locator("td")
          .nth(shown)
          .innerText(),
      ),
    size(least),
    "the most negative",
  );
});

test("pytorch: a click on an operator shows where it is called from", async ({
  page,
  open,
}) => {
  await show(open, page, "torch.operator");
  const found = await report(logdir(), FULL, "torch.operator");
  const name = rowsOf(found, "operators")[0].name;
  const rows = page.locator("[data-table=operators] tbody tr");
  await eventually(
    async () => plain(await rows.first().locator("td").first().innerText()),
    name,
    "the most expensive first",
  );
  await rows.first().click();
  const card = region(page, `Where ${name} is called`);
  await card.waitFor();
  const stacks = rowsOf(found, "by_stack").filter((row) => row.name === name);
  await eventually(
    () => card.locator("li").count(),
    Math.min(50, stacks.length),
    "stacks",
  );
  await eventually(
    async () => plain(await card.locator("li .num").first().innerText()),
    stacks[0].calls === 1 ? "1 call" : `${stacks[0].calls} calls`,
    "calls",
  );
  await eventually(
    async () => plain(await card.locator("li .num").nth(1).innerText()),
    time(stacks[0].host_total_duration),
    "host time",
  );
  await card.locator("summary").first().click();
  await eventually(
    () => card.locator("details").first().locator("code").allInnerTexts(),
    stacks[0].call_stack
      .split(";")
      .filter((frame) => frame !== "")
      .slice(1),
    "frames",
  );
  equal(await axe(page), [], "accessibility");
  await page
    .getByRole("radio", { name: /input shape/i })
    .click({ force: true });
  await eventually(
    async () =>
      plain(await page.locator("[data-table=by_input] .head .dim").innerText()),
    `${tableOf(found, "by_input").total} rows`,
    "by input shapes",
  );
});

test("pytorch: the module tree opens, its numbers and the flame graph are those of the server", async ({
  page,
  open,
}) => {
  await show(open, page, "torch.module");
  const modules = rowsOf(
    await report(logdir(), FULL, "torch.module"),
    "modules",
  );
  const tree = region(page, "Module tree");
  await page.getByRole("button", { name: "Open all" }).click();
  await eventually(
    async () => tree.getByRole("treeitem").count(),
    modules.length,
    "every module",
  );
  const shown = () =>
    tree
      .getByRole("treeitem")
      .evaluateAll((items) =>
        items.map((item) => [
          item.querySelector(".clip").textContent,
          item.querySelector(".num").textContent,
          Number(item.getAttribute("aria-level")),
        ]),
      );
  const below = (parent) =>
    modules
      .filter((row) => row.parent === parent)
      .flatMap((row) => [row, ...below(row.id)]);
  await eventually(
    async () =>
      (await shown()).map(([name, total, level]) => [
        name,
        plain(total),
        level,
      ]),
    below(-1).map((row) => [row.name, time(row.host_duration), row.depth + 1]),
    "tree",
  );
  const flame = page.getByRole("img", { name: "Call stacks" });
  const box = await flame.boundingBox();
  const tops = modules
    .filter((row) => row.parent === -1)
    .sort((a, b) => b.host_duration - a.host_duration);
  await page.mouse.move(box.x + 20, box.y + 25);
  await eventually(
    async () =>
      plain(await page.locator(".flame p").innerText()).startsWith(
        `${tops[0].name} · ${time(tops[0].host_duration)}`,
      ),
    true,
    "the widest frame of the second row",
  );
  await page.mouse.down();
  await page.mouse.up();
  const inner = modules
    .filter((row) => row.parent === tops[0].id)
    .sort((a, b) => b.host_duration - a.host_duration)[0];
  await page.mouse.move(box.x + 21, box.y + (inner === undefined ? 8 : 25));
  await eventually(
    async () =>
      plain(await page.locator(".flame p").innerText()).startsWith(
        (inner ?? tops[0]).name,
      ),
    true,
    "a click zooms into a frame",
  );
  await page.getByRole("button", { name: "Close all" }).click();
  await eventually(
    async () => tree.getByRole("treeitem").count(),
    tops.length,
    "closed",
  );
  equal(await axe(page), [], "accessibility");
});

test("pytorch: two ranks: overlap, waits and collectives", async ({
  page,
  open,
}) => {
  await show(open, page, "torch.distributed", { session: RANKS });
  const found = await report(logdir(), RANKS, "torch.distributed");
  await eventually(
    () =>
      page
        .locator(".report-table")
        .evaluateAll((all) => all.map((one) => one.dataset.table)),
    found.tables.map((one) => one.id),
    "tables",
  );
  for (const id of ["overlap", "waits", "collectives"]) {
    const table = tableOf(found, id);
    await passes(async () => {
      const cells = await page
        .locator(`[data-table=${id}] tbody tr`)
        .first()
        .locator("td")
        .evaluateAll((all) =>
          all.map((cell) => cell.title || cell.textContent),
        );
      table.columns.forEach((one, i) => {
        if (one.type === "number")
          close(Number(cells[i]), table.rows[0][i], 1e-9, `${id}.${one.id}`);
        else
          equal(plain(cells[i]), String(table.rows[0][i]), `${id}.${one.id}`);
      });
    });
  }
  equal(await axe(page), [], "accessibility of torch.distributed");
  for (const tool of ["torch.ranks", "torch.overview"]) {
    await show(open, page, tool, { session: RANKS });
    equal(await axe(page), [], `accessibility of ${tool}`);
  }
});

test(
  "pytorch: against a baseline every page shows what changed",
  async ({ page, open }) => {
    for (const [tool, id, name] of [
      ["torch.operator", "operators", "host_self_duration"],
      ["torch.module", "modules", "host_duration"],
      ["torch.overview", "parts", "time"],
    ]) {
      await show(open, page, tool, { session: FULL, baseline: MODULES });
      const table = tableOf(
        await report(logdir(), FULL, tool, `&baseline=${q(MODULES)}`),
        id,
      );
      const at = column(table, name);
      const row = table.rows.findIndex(
        (cells) =>
          cells[at][1] !== null &&
          cells[at][1] !== 0 &&
          cells[at][0] !== cells[at][1] &&
          cells[at][0] < 10 * cells[at][1],
      ); // larger changes are factors
      check(row >= 0, `${tool}: something changed`);
      const [now, was] = table.rows[row][at];
      const words = `${now > was ? "+" : "-"}${Math.abs((now / was - 1) * 100).toFixed(1)} %`;
      await eventually(
        async () =>
          (await page.locator(`[data-table=${id}]`).innerText().then(plain))
            .replaceAll("−", "-")
            .includes(`(${words})`),
        true,
        `${tool}: ${words}`,
      );
      await page
        .locator(`[data-table=${id}]`)
        .getByRole("switch", { name: "Sort by change" })
        .click({ force: true });
      const lead = table.columns.findIndex(
        (one) =>
          one.type === "number" && !["id", "parent", "depth"].includes(one.id),
      );
      const change = (cells) =>
        cells[lead][1] === null
          ? -1
          : Math.abs(cells[lead][0] - cells[lead][1]);
      const most = Math.max(...table.rows.map(change));
      const names = table.rows
        .filter((cells) => change(cells) === most)
        .map((cells) => String(cells[0]));
      await eventually(
        async () =>
          names.includes(
            plain(
              await page
                .locator(`[data-table=${id}] tbody tr`)
                .first()
                .locator("td")
                .first()
                .innerText(),
            ),
          ),
        true,
        `${tool}: what moved most comes first`,
      );
      equal(await axe(page), [], `accessibility of ${tool}`);
    }
  },
  { dark: true },
);

test("pytorch: pages without data say why and what to do", async ({
  page,
  open,
}) => {
  await open(logdir(), hash({ session: RANKS, tool: "torch.memory" }));
  const { missing } = await api(
    logdir(),
    `profile/report?session=${q(RANKS)}&tool=torch.memory`,
  );
  await page.getByText(missing[0].fix.slice(1)).first().waitFor();
  equal(await axe(page), [], "accessibility");
});
