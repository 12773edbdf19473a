// The profile pages beyond their numbers: tables one shapes by hand, notes, parts of a capture, reports to keep. The
// captures of GPUs here are made, not recorded: every figure in them is known and none belongs to anybody.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  api,
  column,
  hash,
  ownCaptures,
  plain,
  q,
  region,
  report,
  rowsOf,
  showPage as show,
  sharedCaptures as own,
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
  settled,
  temporary,
  test,
} from "./harness.mjs";

const cells = (table, name) =>
  table
    .locator("thead th")
    .allInnerTexts()
    .then(async (heads) => {
      const at = heads.findIndex((head) => head.startsWith(name));
      return table
        .locator("tbody tr:not(.pad)")
        .evaluateAll(
          (rows, i) => rows.map((row) => row.querySelectorAll("td")[i].title),
          at,
        );
    });

test("profile table: Shift and a header add a second key, the edge of a header makes its column wider", async ({
  page,
  open,
}) => {
  await show(open, page, "bound", "framework_op_stats");
  const table = page.locator("[data-table=without_idle]");
  await table.getByRole("button", { name: /^Type/ }).click();
  await table
    .getByRole("button", { name: /^Occurrences/ })
    .click({ modifiers: ["Shift"] });
  await table
    .getByRole("button", { name: "Occurrences ↑²" })
    .click({ modifiers: ["Shift"] });
  await table.getByRole("button", { name: "Occurrences ↓²" }).waitFor();
  await passes(async () => {
    const [types, counts] = [
      await cells(table, "Type"),
      (await cells(table, "Occurrences")).map(Number),
    ];
    check(
      types.length > 10 && new Set(types).size < types.length,
      "types repeat",
    );
    types.forEach((type, i) => {
      if (i === 0) return;
      check(
        types[i - 1].localeCompare(type, "en", { numeric: true }) <= 0,
        `types ascend at ${i}`,
      );
      if (types[i - 1] === type)
        check(
          counts[i - 1] >= counts[i],
          `occurrences of ${type} descend at ${i}`,
        );
    });
  });
  const head = table.locator("thead th", { hasText: /^Operation/ }).first();
  const before = (await head.boundingBox()).width;
  const edge = await head.locator(".edge").boundingBox();
  await page.mouse.move(edge.x + 3, edge.y + 8);
  await page.mouse.down();
  await page.mouse.move(edge.x + 83, edge.y + 8, { steps: 4 });
  await page.mouse.up();
  await passes(async () =>
    close(
      (await head.boundingBox()).width,
      before + 80,
      4,
      "width by the pointer",
    ),
  );
  await head.getByRole("button").focus();
  await page.keyboard.press("Alt+ArrowLeft");
  await passes(async () =>
    close((await head.boundingBox()).width, before + 64, 4, "width by keys"),
  );
  equal(await axe(page), [], "accessibility");
});

test("profile table: a row and the table are copied; long names are cut in the middle, whole on request", async ({
  page,
  open,
}) => {
  await show(open, page, "gpu", "kernel_stats");
  const table = page.locator("[data-table=kernels]");
  await table.locator("tbody tr").first().locator("td").nth(2).click();
  await table.getByRole("group").focus();
  await page.keyboard.press("Control+c");
  const found = tableOf(
    await report(own(), "train/gpu", "kernel_stats"),
    "kernels",
  );
  await eventually(
    async () =>
      (await page.evaluate(() => navigator.clipboard.readText())).split(
        "\t",
      )[0],
    found.rows[0][column(found, "kernel_name")],
    "the row in the clipboard",
  );
  await table.getByRole("button", { name: "Download as CSV" }).click();
  await page.getByRole("menuitem", { name: /^Copy / }).click();
  await eventually(
    async () =>
      (await page.evaluate(() => navigator.clipboard.readText())).split("\n")
        .length,
    found.rows.length + 1,
    "the table in the clipboard",
  );
  const names = found.rows.map((row) => row[column(found, "kernel_name")]);
  const long = names.find((name) => name.length > 60);
  if (long !== undefined) {
    check(!(await table.innerText()).includes(long), "a long name is cut");
    await table.getByRole("button", { name: "Columns" }).click();
    await page.getByRole("menuitemcheckbox", { name: "Whole names" }).click();
    if (/<.*>/.test(long)) {
      await table.getByRole("button", { name: "Columns" }).click();
      await page
        .getByRole("menuitemcheckbox", { name: "Template arguments" })
        .click();
    }
    await table.getByText(long, { exact: true }).first().waitFor();
  }
});

test("profile: kernels of a GPU, made: shares, Tensor Cores, the table", async ({
  page,
  open,
}) => {
  await show(open, page, "gpu", "kernel_stats");
  const rows = rowsOf(
    await report(own(), "train/gpu", "kernel_stats"),
    "kernels",
  );
  const total = rows.reduce((sum, row) => sum + row.total_duration_us, 0);
  await eventually(
    () => page.locator(".figures dd.big").first().getAttribute("title"),
    `${total / 1e3} ms`,
    "kernel time",
  );
  await region(page, "Tensor Cores").locator("li").first().waitFor();
  equal(await axe(page), [], "accessibility");
  await show(open, page, "bound", "overview_page");
  await open(own(), hash({ session: "train/bound", tool: "kernel_stats" }));
  await page.getByText("no GPU in this capture").first().waitFor();
  await eventually(
    () => page.locator(".figures").count(),
    0,
    "no figures without data",
  );
});

test("profile: a line of source is copied", async ({ page, open }) => {
  await show(open, page, "stacks", "torch.operator");
  await page.locator("[data-table=operators] tbody tr").first().click();
  const frame = page.locator(".stacks code .link").first();
  await page.locator(".stacks summary").first().click();
  await frame.waitFor();
  const text = await frame.innerText();
  const [, path, line] = /^(.*)\((\d+)\)/.exec(text);
  await frame.click();
  await page.getByRole("menuitem", { name: "Copy path and line" }).click();
  await eventually(
    () => page.evaluate(() => navigator.clipboard.readText()),
    `${path}:${line}`,
    "path and line",
  );
  // Programs of XLA say it in a column of their own, as text.
  await show(open, page, "jax", "hlo_stats");
  const source = rowsOf(
    await report(own(), "train/jax", "hlo_stats"),
    "hlo_ops",
  ).map((row) => row.source_info);
  check(
    source.every((one) => !one.includes("<")),
    "sources are text",
  );
});

test("profile: notes, a name and pinned findings stay with the session", async ({
  page,
  open,
}) => {
  const logdir = ownCaptures();
  await show(open, page, "bound", "overview_page", {}, logdir);
  const finding = page.locator(".findings details").first();
  const words = await finding.locator(".b").innerText();
  await finding
    .getByRole("button", { name: "Pin this finding to the notes" })
    .click();
  await finding.getByRole("button", { name: "Unpin this finding" }).waitFor();
  await page.getByRole("button", { name: "Notes and files" }).click();
  await region(page, "Pinned findings")
    .getByRole("button", { name: words })
    .waitFor();
  await page
    .getByRole("textbox", { name: "Name of this session" })
    .fill("slow input");
  await page
    .getByRole("textbox", { name: "Name of this session" })
    .press("Enter");
  const kept = async () =>
    (await api(logdir, "sidecar")).sessions?.["train/bound"];
  await eventually(
    async () => (await kept())?.name,
    "slow input",
    "kept beside the logs",
  );
  await settled(page); // an answer puts the kept note into the field
  await page.getByRole("radio", { name: "Write" }).click({ force: true });
  await page
    .getByRole("textbox", { name: "Notes" })
    .fill("# Why\n\nThe **map** is serial <b>here</b>");
  await page.getByRole("radio", { name: "Read" }).click({ force: true });
  const note = region(page, "Notes");
  await eventually(() => note.locator("strong").innerText(), "map", "Markdown");
  await eventually(
    async () => (await note.innerText()).includes("<b>here</b>"),
    true,
    "markup of the note stays text",
  );
  await eventually(
    async () => (await kept())?.note?.startsWith("# Why"),
    true,
    "the note beside the logs",
  );
  await eventually(
    () => stateOf(page).tool,
    "information",
    "the page is in the link",
  );
  await page.reload();
  await region(page, "Pinned findings")
    .getByRole("button", { name: words })
    .waitFor();
  await eventually(
    () => note.locator("h3").innerText(),
    "Why",
    "after a reload",
  );
  await page.locator(".tools .sel", { hasText: "slow input" }).waitFor();
  equal(await axe(page), [], "accessibility");
  await region(page, "Pinned findings")
    .getByRole("button", { name: "Unpin" })
    .click();
  await eventually(
    async () =>
      (await api(logdir, "sidecar")).sessions["train/bound"].pins.length,
    0,
    "unpinned",
  );
});

test("profile: files, sizes, times and problems of a session", async ({
  page,
  open,
}) => {
  await open(own(), hash({ session: "train/jax", tool: "information" }));
  const wanted = await api(
    own(),
    `profile/information?session=${q("train/jax")}`,
  );
  const file = region(page, "Files").locator("tbody tr").first();
  await file.waitFor();
  await eventually(
    () => file.locator("td").first().innerText(),
    wanted.files[0].name,
    "file",
  );
  await eventually(
    () => file.locator("td").nth(3).getAttribute("title"),
    `${wanted.files[0].bytes} bytes`,
    "size",
  );
  await eventually(
    async () =>
      (await region(page, "Files").innerText()).includes(wanted.version),
    true,
    "version",
  );
  await eventually(
    async () =>
      plain(
        await region(page, "What was read")
          .locator("tbody td")
          .nth(4)
          .innerText(),
      ).replaceAll(" ", ""),
    String(wanted.hosts[0].slices),
    "slices",
  );
  equal(await axe(page), [], "accessibility");
});

test("profile: problems of a capture are counted, all of them on request", async ({
  page,
  open,
}) => {
  const logdir = temporary();
  const folder = join(logdir, "train/plugins/profile/cut");
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, "a.trace.json"),
    '{"traceEvents":[{"ph":"X","name":"op","pid":1,"tid":1,"ts":0,"dur":5},{"ph":"X","name":"op","pid":1,"tid":1,"ts":9',
  );
  const { diagnostics } = await api(
    logdir,
    `profile/tools?session=${q("train/cut")}`,
  );
  const loud = diagnostics.filter((one) => one.severity !== "info");
  check(loud.length > 0, "the file is cut");
  await open(logdir, hash({ session: "train/cut", tool: "overview_page" }));
  const banner = page.locator(".diagnostics");
  await banner.waitFor();
  await eventually(
    async () =>
      /^\d+ (warning|error)s?/.test(await banner.locator(".b").innerText()),
    true,
    "counts",
  );
  await banner.locator("summary").click();
  await eventually(
    () => banner.locator("li").count(),
    diagnostics.length,
    "all of them",
  );
  equal(await axe(page), [], "accessibility");
});

test("profile: without steps the overview is of the whole capture, and says so", async ({
  page,
  open,
}) => {
  const logdir = temporary();
  const folder = join(logdir, "train/plugins/profile/plain");
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, "a.trace.json"),
    JSON.stringify({
      traceEvents: [
        { ph: "M", name: "process_name", pid: 1, args: { name: "/host:CPU" } },
        { ph: "X", name: "model/dense:MatMul", pid: 1, tid: 1, ts: 0, dur: 5 },
      ],
    }),
  );
  await open(logdir, hash({ session: "train/plain", tool: "overview_page" }));
  await page.getByText("No step is marked in this capture").waitFor();
  equal(await axe(page), [], "accessibility");
  // A session written meanwhile appears without a reload of the page.
  mkdirSync(join(logdir, "train/plugins/profile/second"), { recursive: true });
  writeFileSync(
    join(logdir, "train/plugins/profile/second/a.trace.json"),
    '{"traceEvents":[{"ph":"X","name":"op","pid":1,"tid":1,"ts":0,"dur":5}]}',
  );
  await eventually(
    async () => {
      await page.getByRole("button", { name: "More about sessions" }).click();
      await page
        .getByRole("menuitem", { name: "Look for new sessions" })
        .click();
      return (await page.getByText("2 sessions").count()) > 0;
    },
    true,
    "the new session is found",
  );
});

test("profile: only the steps dragged over, on every page, in the link", async ({
  page,
  open,
}) => {
  await show(open, page, "bound", "overview_page");
  const chart = page.getByRole("application", { name: /Step time/ });
  const { steps } = await api(
    own(),
    `trace/steps?session=${q("train/bound")}&host=0`,
  );
  const box = await chart.boundingBox();
  const x = (i) => box.x + 46 + ((i + 0.5) / steps.length) * (box.width - 54);
  await page.mouse.move(x(2), box.y + 60);
  await page.mouse.down();
  await page.mouse.move(x(4), box.y + 60, { steps: 4 });
  await page.mouse.up();
  await page.locator(".chip", { hasText: "Only steps" }).waitFor();
  await eventually(
    () => [stateOf(page).only?.begin, stateOf(page).only?.end],
    [Number(steps[2].begin), Number(steps[4].end)],
    "the range in the link",
  );
  const { only } = stateOf(page);
  const [part, whole] = await Promise.all(
    [`&begin_ps=${only.begin}&end_ps=${only.end}`, ""].map((more) =>
      report(own(), "train/bound", "overview_page", more),
    ),
  );
  equal(
    [
      tableOf(part, "step_times").rows.length,
      tableOf(whole, "step_times").rows.length,
    ],
    [3, steps.length],
    "steps of the part and of the whole",
  );
  const time = (found) =>
    found.figures.find((one) => one.id === "step_time_ms").value;
  await eventually(
    () => page.locator(".figures dd.big").first().getAttribute("title"),
    `${time(part)} ms`,
    "the figure is that of the part",
  );
  await page.getByRole("button", { name: "Framework op statistics" }).click();
  await page.locator("[data-table=without_idle]").waitFor();
  const ops = tableOf(
    await report(
      own(),
      "train/bound",
      "framework_op_stats",
      `&begin_ps=${only.begin}&end_ps=${only.end}`,
    ),
    "without_idle",
  );
  await eventually(
    async () =>
      plain(
        await page.locator("[data-table=without_idle] .head .dim").innerText(),
      ),
    `${ops.total} rows`,
    "operations of the part",
  );
  await page
    .locator(".chip", { hasText: "Only steps" })
    .getByRole("button")
    .click();
  await eventually(
    async () => stateOf(page).only ?? null,
    null,
    "the whole again",
  );
  equal(await axe(page), [], "accessibility");
});

test("profile: a chart is saved as a picture", async ({ page, open }) => {
  await show(open, page, "bound", "overview_page");
  const card = region(page, "Step time");
  for (const [kind, begins] of [
    ["PNG", "\u0089PNG"],
    ["SVG", "<svg"],
  ]) {
    await card
      .getByRole("button", { name: "Save the chart as an image" })
      .focus();
    await page.keyboard.press("Enter");
    const waiting = page.waitForEvent("download");
    await page.getByRole("menuitem", { name: kind }).click();
    const bytes = readFileSync(await (await waiting).path());
    check(bytes.toString("latin1").startsWith(begins), kind);
    if (kind === "SVG")
      check(
        (bytes.toString().match(/<rect/g) ?? []).length > 8,
        "bars in the SVG",
      );
  }
});

test("profile: a session becomes one HTML file", async ({
  page,
  open,
  context,
}) => {
  await show(open, page, "bound", "overview_page");
  await page.getByRole("button", { name: "More about sessions" }).click();
  const waiting = page.waitForEvent("download");
  await page.getByRole("menuitem", { name: "Report as one HTML file" }).click();
  const text = readFileSync(await (await waiting).path(), "utf8");
  check(
    text.startsWith("<!doctype html>") && !/<script|src=|<link/.test(text),
    "nothing from elsewhere",
  );
  const sheet = await context.newPage();
  await sheet.setContent(text);
  check(
    (await sheet.getByRole("heading", { level: 2 }).count()) > 3,
    "sections",
  );
  check((await sheet.getByText("wait for input").count()) > 0, "the finding");
});

test("profile: loading tells what is read and can be cancelled", async ({
  page,
  open,
}) => {
  await page.route("**/profile/report?**", async () => undefined); // never answered
  await page.route("**/profile/progress?**", (route) =>
    route.fulfill({
      json: {
        loading: true,
        files: 2,
        files_done: 1,
        bytes: 4_000_000,
        bytes_done: 1_000_000,
      },
    }),
  );
  await open(own(), hash({ session: "train/bound", tool: "overview_page" }));
  const load = page
    .getByRole("status")
    .filter({ hasText: "Reading the capture" });
  await load.getByText("file 1 of 2").waitFor();
  await eventually(
    () => load.locator("progress").getAttribute("value"),
    "1000000",
    "the bar",
  );
  equal(await axe(page), [], "accessibility");
  await load.getByRole("button", { name: "Cancel" }).click();
  await page.getByText("You stopped waiting").waitFor();
  await page.unroute("**/profile/report?**");
  await page.getByRole("button", { name: "Load it" }).click();
  await page.locator(".figures").first().waitFor();
});

test("profile: several dropped files are one session of several hosts", async ({
  page,
  open,
}) => {
  await show(open, page, "bound", "overview_page");
  const transfer = await page.evaluateHandle(() => {
    const all = new DataTransfer();
    for (const name of ["a.json", "b.json"])
      all.items.add(
        new File(
          [
            JSON.stringify({
              traceEvents: [
                { ph: "X", name: `of ${name}`, pid: 1, tid: 1, ts: 0, dur: 50 },
              ],
            }),
          ],
          name,
          { type: "application/json" },
        ),
      );
    return all;
  });
  await page
    .locator(".profile")
    .dispatchEvent("drop", { dataTransfer: transfer });
  await eventually(
    async () => stateOf(page).session,
    "dropped/a.json",
    "session",
  );
  equal(
    (
      await api(own(), `profile/tools?session=${q("dropped/a.json")}`)
    ).hosts.map((host) => host.name),
    ["a.json", "b.json"],
    "hosts",
  );
});
