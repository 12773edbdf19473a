// Pages of devices, compiled programs and PyTorch: what one can choose on them, with the numbers of the API beside it.
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import {
  hash,
  plain,
  region,
  report,
  rowsOf,
  sharedCaptures as own,
  showPage as show,
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
  shared,
  skip,
  temporary,
  test,
} from "./harness.mjs";

test("op profile: at most so many operations of a line", async ({
  page,
  open,
}) => {
  await show(open, page, "jax", "op_profile");
  const { document } = await report(own(), "train/jax", "op_profile");
  const root = document.byProgramExcludeIdle ?? document.byProgram;
  const widest = (node) =>
    Math.max(node.children?.length ?? 0, ...(node.children ?? []).map(widest));
  check(widest(root) > 5, "the capture has a line with more than five");
  const tree = page.locator(".two .card").first();
  const closed = tree.locator("button.fold[aria-expanded=false]");
  while ((await closed.count()) > 0) await closed.first().click();
  const before = await tree.locator("tbody tr").count();
  await page.locator(".sel", { hasText: "Operations" }).click();
  await page.getByRole("option", { name: "5", exact: true }).click();
  await tree
    .getByText(`${widest(root) - 5} more not shown`)
    .first()
    .waitFor();
  await eventually(
    async () => (await tree.locator("tbody tr").count()) < before,
    true,
    "fewer lines",
  );
  equal(await axe(page), [], "accessibility");
});

test("HLO graph: fusions open in place", async ({ page, open }) => {
  await show(open, page, "jax", "graph_viewer");
  const graph = page.locator(".boxes");
  const boxes = () => graph.locator("g[role=button]").count();
  const names = () =>
    graph
      .locator("g[role=button] .title")
      .allTextContents()
      .then((all) => all.map((one) => one.trim()));
  await eventually(
    async () => (await names()).includes("fusion"),
    true,
    "the program has fusions",
  );
  const before = await boxes();
  await page
    .getByRole("switch", { name: "Open fusions in place" })
    .click({ force: true });
  await eventually(
    async () => (await boxes()) > before && !(await names()).includes("fusion"),
    true,
    "what they are made of",
  );
  equal(await axe(page), [], "accessibility");
});

test("roofline: another memory, peaks by hand", async ({ page, open }) => {
  await show(open, page, "gpu", "roofline_model");
  const found = await report(own(), "train/gpu", "roofline_model");
  const sharedPeak = Number(
    tableOf(found, "roofline").properties.peak_vmem_write_bw,
  );
  if (sharedPeak > 0) {
    await page
      .getByRole("radio", { name: "Shared memory" })
      .click({ force: true });
    await settled(page);
    const near = rowsOf(found, "roofline").filter(
      (row) =>
        row.include_infeed_outfeed &&
        row.step === "Total" &&
        row.category !== "Program" &&
        row.measured_flop_rate > 0 &&
        row.vmem_write_operational_intensity > 0,
    );
    if (near.length === 0)
      await page.getByText("No operation with a known rate").waitFor();
    else
      await page
        .getByRole("img", {
          name: new RegExp(`Roofline of ${near.length} operations`),
        })
        .waitFor();
    await page.getByRole("radio", { name: "HBM" }).click({ force: true });
  }
  await page.getByRole("button", { name: "Peaks" }).click();
  await page.getByRole("textbox", { name: "Peak, GFLOP/s" }).fill("123456");
  await page.getByRole("textbox", { name: "Peak, GFLOP/s" }).press("Enter");
  await page.getByText("peaks as given: 123456 GFLOP/s").waitFor();
  await eventually(
    () => stateOf(page).peaks?.peak_gflops,
    "123456",
    "in the link",
  );
  await eventually(
    () => page.locator(".figures dd.big").first().getAttribute("title"),
    "123456 GFLOP/s",
    "the figure",
  );
  equal(await axe(page), [], "accessibility");
  await page.getByRole("button", { name: "Known peaks" }).click();
  await eventually(
    () => page.locator(".figures dd.big").first().getAttribute("title"),
    `${found.figures.find((one) => one.id === "peak_flop_rate").value} GFLOP/s`,
    "known again",
  );
});

test("framework operations: rates by type, scopes as a tree", async ({
  page,
  open,
}) => {
  await show(open, page, "gpu", "framework_op_stats");
  const rows = rowsOf(
    await report(own(), "train/gpu", "framework_op_stats"),
    "without_idle",
  );
  const busy = rows.filter(
    (row) =>
      row.host_or_device === "Device" &&
      row.model_flop_rate > 0 &&
      row.total_self_time > 0,
  );
  if (busy.length > 0) {
    const type = busy[0].type;
    const same = busy.filter((row) => row.type === type);
    const rate =
      same.reduce(
        (sum, row) => sum + row.model_flop_rate * row.total_self_time,
        0,
      ) / same.reduce((sum, row) => sum + row.total_self_time, 0);
    const line = region(page, "GFLOP/s on the device, by type").locator("li", {
      has: page.getByRole("button", { name: type, exact: true }),
    });
    await passes(async () =>
      close(
        Number((await line.getAttribute("title")).split(": ")[1].split(" ")[0]),
        rate,
        rate * 1e-9,
        "the rate of a type",
      ),
    );
  }
  await show(open, page, "bound", "framework_op_stats");
  const ops = rowsOf(
    await report(own(), "train/bound", "framework_op_stats"),
    "without_idle",
  );
  await page.getByRole("radio", { name: "Name scopes" }).click({ force: true });
  const tree = page.getByRole("tree", { name: "Operations by name scope" });
  await tree.waitFor();
  const tops = new Set(
    ops.map(
      (row) =>
        row.operation.split("/").find((part) => part !== "") ?? row.operation,
    ),
  );
  await eventually(
    () => tree.getByRole("treeitem").count(),
    tops.size,
    "the outermost scopes",
  );
  const first = tree.getByRole("treeitem", { expanded: false }).first();
  const name = await first.locator(".clip").getAttribute("title");
  const total = ops
    .filter((row) => row.operation.startsWith(`${name}/`))
    .reduce((sum, row) => sum + row.total_self_time, 0);
  check(total > 0, "a scope with operations");
  await first.getByRole("button").click();
  await eventually(
    async () => (await tree.getByRole("treeitem").count()) > tops.size,
    true,
    "opened",
  );
  equal(await axe(page), [], "accessibility");
});

test("memory: compiled programs over the curve; a click zooms to one", async ({
  page,
  open,
}) => {
  const found = await report(own(), "train/gpu", "memory_profile");
  const programs = tableOf(found, "programs");
  check(programs.rows.length > 2, "the capture has programs");
  await show(open, page, "gpu", "memory_profile");
  await page.locator("[data-table=programs] tbody tr").nth(1).click();
  await page.getByRole("button", { name: "Whole window" }).waitFor();
  equal(await axe(page), [], "accessibility");
});

test("memory of a program: where its temporary buffers lie", async ({
  page,
  open,
}) => {
  for (const session of ["jax", "two", "gpu"]) {
    const found = await report(own(), `train/${session}`, "memory_viewer");
    const blocks = (found.document?.bufferBlocks ?? []).filter(
      (one) => (one.logicalBufferId ?? 0) >= 0,
    );
    if (blocks.length === 0) continue;
    await show(open, page, session, "memory_viewer");
    const card = region(page, "Where temporary buffers lie");
    await card
      .getByRole("img", {
        name: new RegExp(`^${blocks.length} temporary buffers`),
      })
      .waitFor();
    await card
      .getByRole("textbox", { name: "Find an instruction" })
      .fill(blocks[0].name);
    await card.getByText(/\d+ found/).waitFor();
    equal(tableOf(found, "memories").rows[0][0], "0", "the main memory");
    equal(await axe(page), [], "accessibility");
    return;
  }
  check(false, "no capture has a heap trace");
});

test("pytorch: kernels by name and by operator, shares as bars or a pie", async ({
  page,
  open,
}) => {
  await show(open, page, "torch", "torch.kernel");
  const found = await report(own(), "train/torch", "torch.kernel");
  const total = rowsOf(found, "kernels").reduce(
    (sum, row) => sum + row["Total Duration (us)"],
    0,
  );
  await passes(async () =>
    close(
      Number(
        (
          await page.locator(".figures dd.big").first().getAttribute("title")
        ).replace(" ms", ""),
      ),
      total / 1e3,
      1e-6,
      "kernel time",
    ),
  );
  const cores = region(page, "Tensor Cores");
  await cores.getByRole("button", { name: "As a pie" }).click();
  await cores.getByRole("img").waitFor();
  await page
    .getByRole("radio", { name: "Operator and launch" })
    .click({ force: true });
  await eventually(
    async () =>
      plain(
        await page.locator("[data-table=by_operator] .head .dim").innerText(),
      ),
    `${tableOf(found, "by_operator").total} rows`,
    "by operator",
  );
  equal(await axe(page), [], "accessibility");
  await show(open, page, "torch", "torch.overview");
  const parts = region(page, "Where an average step goes, chart");
  await parts.getByRole("button", { name: "As a pie" }).click();
  await parts.getByRole("img").waitFor();
  equal(await axe(page), [], "accessibility of the overview");
});

test("pytorch: two executions aligned, their differences added up", async ({
  page,
  open,
}) => {
  await show(open, page, "stacks", "torch.module", { baseline: "train/torch" });
  const both = await report(
    own(),
    "train/stacks",
    "torch.module",
    "&baseline=train/torch&view=module",
  );
  const card = region(page, "Execution against the baseline");
  await card.waitFor();
  await eventually(
    () => card.locator("li").count(),
    both.changes.data.length,
    "modules of the first level",
  );
  const inside = both.changes.data.findIndex(
    (node) => node.children.length > 0,
  );
  if (inside >= 0) {
    await card.locator("li").nth(inside).getByRole("button").click();
    await eventually(
      () => card.locator("li").count(),
      both.changes.data[inside].children.length,
      "what is inside",
    );
    await card.getByRole("button", { name: "all modules" }).click();
  }
  equal(await axe(page), [], "accessibility");
});

test("requests of a server: latency by percentile, where it goes", async ({
  page,
  open,
}) => {
  const logdir = temporary();
  const folder = join(logdir, "plugins/profile/s");
  mkdirSync(folder, { recursive: true });
  const requests = Array.from({ length: 8 }, (_, i) => ({
    ph: "X",
    name: "BatchingSessionRun",
    pid: 1,
    tid: 1,
    ts: i * 1000,
    dur: 100 + 50 * i,
    args: { _r: 1, model_name: "resnet", request_id: i },
  }));
  writeFileSync(
    join(folder, "host0.trace.json"),
    JSON.stringify({
      traceEvents: [
        { ph: "M", name: "process_name", pid: 1, args: { name: "/host:CPU" } },
        {
          ph: "M",
          name: "thread_name",
          pid: 1,
          tid: 1,
          args: { name: "main" },
        },
        ...requests,
      ],
    }),
  );
  const found = await report(logdir, "s", "inference_profile");
  equal(found.missing, [], "requests are found");
  await open(logdir, hash({ session: "s", tool: "inference_profile" }));
  await page.getByRole("img", { name: /^Requests/ }).waitFor();
  await eventually(
    () => page.locator(".figures dd.big").first().innerText(),
    "8",
    "requests",
  );
  const median = rowsOf(found, "requests").find(
    (row) => row.percentile === "50.000%" && row.model === "resnet",
  );
  close(
    median.latency_ms,
    0.3,
    1e-9,
    "the median of 0.1, 0.15 … 0.45 ms, the fifth of eight",
  );
  equal(await axe(page), [], "accessibility");
});

test("overview of a TPU: how much of it is used", async ({ page, open }) => {
  const folder = shared("profile_samples/A/jax_tpu_v6e_inference");
  if (folder === null) skip();
  const logdir = temporary();
  const session = join(logdir, "plugins/profile/s");
  mkdirSync(session, { recursive: true });
  for (const file of readdirSync(folder).filter((one) =>
    one.endsWith(".xplane.pb.gz"),
  ))
    writeFileSync(
      join(session, file.slice(0, -3)),
      gunzipSync(readFileSync(join(folder, file))),
    );
  await open(logdir, hash({ session: "s", tool: "overview_page" }));
  const { properties } = tableOf(
    await report(logdir, "s", "overview_page"),
    "op_stats",
  );
  const line = region(page, "Utilisation").locator("li", {
    hasText: "Duty cycle",
  });
  await line.waitFor();
  await passes(async () =>
    close(
      Number(plain(await line.locator(".num").innerText()).replace(" %", "")),
      Number.parseFloat(properties.device_duty_cycle_percent),
      0.06,
      "duty cycle",
    ),
  );
  equal(await axe(page), [], "accessibility");
});
