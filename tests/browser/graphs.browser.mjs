// The graph page used as a person would: what is drawn against the server's levels, opening, searching,
// tracing, the outline by keyboard, colours, the small map, export and upload.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { writeGraph } from "./events.mjs";
import {
  axe,
  check,
  corpus,
  equal,
  eventually,
  passes,
  serve,
  settled,
  temporary,
  test,
} from "./harness.mjs";

const ask = async (logdir, path, body) => {
  const answer = await fetch(
    `${(await serve(logdir)).replace(/\/$/, "")}/api/v1/${path}`,
    body === undefined
      ? {}
      : {
          method: "POST",
          headers: { "Content-Type": "application/json" },
          body: JSON.stringify(body),
        },
  );
  return answer.json();
};
const drawn = (page) =>
  page
    .locator(".node")
    .evaluateAll((nodes) =>
      nodes.map((node) => node.getAttribute("data-name")).sort(),
    );
const node = (page, name) => page.locator(`.node[data-name="${name}"]`);
const camera = (page) => page.locator("g.world").getAttribute("transform");

async function ready(page) {
  await page.locator(".node").first().waitFor();
  await settled(page);
}

test("graph: boxes are the server’s; opening adds what is inside and stays in view", async ({
  page,
  open,
}) => {
  const logs = corpus("trace_graph");
  await open(logs, "#graphs");
  await ready(page);
  const [{ id }] = await ask(logs, "graphs");
  const level = await ask(logs, `graphs/${id}/level`, { open: [] });
  await eventually(
    () => drawn(page),
    level.nodes.map((one) => one.name).sort(),
    "boxes",
  );
  const scope = level.nodes.find(
    (one) => one.kind === "scope" && one.count > 3,
  );
  const before = await node(page, scope.name).locator(".body").boundingBox();
  await node(page, scope.name).locator(".plus").click();
  const inside = await ask(logs, `graphs/${id}/level`, { open: [scope.name] });
  await eventually(
    () => drawn(page),
    inside.nodes.map((one) => one.name).sort(),
    "boxes after opening",
  );
  // It stays where it was unless it would leave the window there.
  await passes(async () => {
    const after = await node(page, scope.name).boundingBox();
    const frame = await page.locator("rect.box").first().boundingBox();
    const window = await page.locator(".canvas").boundingBox();
    const stays = (at, was, size, from, room) =>
      Math.abs(at - was) < 2 || (was + size > from + room - 24 && at >= from);
    check(
      stays(after.x, before.x, frame.width, window.x, window.width) &&
        stays(after.y, before.y, frame.height, window.y, window.height),
      `the box moved from ${before.x},${before.y} to ${after.x},${after.y}`,
    );
  });
  const edge = inside.edges.find((one) => one.label);
  check(edge !== undefined, "no edge has a shape");
  await page
    .locator("text.shape", { hasText: edge.label })
    .first()
    .waitFor({ state: "attached" });
  const op = inside.nodes.find(
    (one) => one.kind === "op" && one.name.startsWith(`${scope.name}/`),
  );
  await node(page, op.name).click();
  const detail = await ask(
    logs,
    `graphs/${id}/node?name=${encodeURIComponent(op.name)}`,
  );
  const info = page.getByRole("complementary", { name: "The selected node" });
  await info.getByText(detail.op, { exact: true }).waitFor();
  for (const one of detail.attributes)
    await eventually(
      () =>
        info
          .locator(".row", {
            has: page.locator("span", { hasText: new RegExp(`^${one.key}$`) }),
          })
          .first()
          .locator(".mono")
          .innerText(),
      one.text,
      `attribute ${one.key}`,
    );
  equal(await axe(page), [], "accessibility");
  await eventually(
    () =>
      Buffer.from(/&v=1\.(.*)$/.exec(page.url())?.[1] ?? "", "base64url")
        .toString()
        .includes(op.name),
    true,
    "the view is in the link",
  );
  await page.reload();
  await ready(page);
  await eventually(
    () => drawn(page),
    inside.nodes.map((one) => one.name).sort(),
    "the link keeps what is open",
  );
});

test("graph: search, neighbours and traced inputs", async ({ page, open }) => {
  const logs = corpus("torch_graph");
  await open(logs, "#graphs");
  await ready(page);
  const [{ id }] = await ask(logs, "graphs");
  const found = await ask(logs, `graphs/${id}/search?re=input`);
  await page.getByRole("textbox", { name: "Search nodes" }).fill("input");
  const hits = page
    .getByRole("list", { name: "Nodes found" })
    .getByRole("button");
  await eventually(
    () => hits.allInnerTexts(),
    found.hits.map((one) => one.name),
    "hits",
  );
  const target =
    found.hits.find((one) => one.kind === "op" && one.open.length > 1) ??
    found.hits.find((one) => one.kind === "op");
  await hits.getByText(target.name, { exact: true }).click();
  await page.getByRole("textbox", { name: "Search nodes" }).fill("");
  await node(page, target.name).waitFor();
  await page.getByRole("button", { name: "Trace inputs" }).click();
  const traced = new Set(
    (
      await ask(
        logs,
        `graphs/${id}/trace?name=${encodeURIComponent(target.name)}`,
      )
    ).names,
  );
  await page.locator(".node.dim").first().waitFor();
  const dim = await page
    .locator(".node.op.dim")
    .evaluateAll((nodes) => nodes.map((one) => one.getAttribute("data-name")));
  check(
    dim.every((name) => !traced.has(name)),
    "an input is dimmed",
  );
  const info = page.getByRole("complementary", { name: "The selected node" });
  const detail = await ask(
    logs,
    `graphs/${id}/node?name=${encodeURIComponent(target.name)}`,
  );
  await eventually(
    () => info.locator("h3", { hasText: "Inputs" }).innerText(),
    `Inputs ${detail.inputs_total}`,
    "inputs",
  );
  const neighbour = detail.inputs[0] ?? detail.outputs[0];
  await info
    .getByRole("button", { name: neighbour.name, exact: true })
    .first()
    .click();
  await node(page, neighbour.name).waitFor();
  await eventually(
    () => page.locator(".node.chosen").getAttribute("data-name"),
    neighbour.name,
    "the neighbour is chosen",
  );
});

test(
  "graph: the outline by keyboard, functions alone, the map, zoom and fit",
  async ({ page, open }) => {
    const logs = corpus("trace_graph");
    await open(logs, "#graphs");
    await ready(page);
    const tree = page.getByRole("tree", { name: "Outline" });
    const [{ id }] = await ask(logs, "graphs");
    const top = (await ask(logs, `graphs/${id}/outline`)).filter(
      (one) => !one.name.startsWith("__function_library__"),
    );
    await tree.getByRole("treeitem").first().focus();
    await page.keyboard.press("ArrowRight");
    const inside = await ask(
      logs,
      `graphs/${id}/outline?scope=${encodeURIComponent(top[0].name)}`,
    );
    await eventually(
      () => tree.locator('[aria-level="2"]').count(),
      inside.length,
      "children in the outline",
    );
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await eventually(
      () => page.locator(".node.chosen").getAttribute("data-name"),
      inside[0].name,
      "Enter shows the node",
    );
    await settled(page); // the node is in view
    const before = await camera(page);
    await page.getByRole("button", { name: "Zoom in (+)" }).click();
    await eventually(async () => (await camera(page)) !== before, true, "zoom");
    const near = await camera(page);
    await page
      .getByRole("application", { name: /^Map/ })
      .click({ position: { x: 20, y: 20 } });
    await eventually(
      async () => (await camera(page)) !== near,
      true,
      "the map",
    );
    const moved = await camera(page);
    await page.getByRole("button", { name: /Fit/ }).click();
    await eventually(async () => (await camera(page)) !== moved, true, "fit");
    const level = await ask(logs, `graphs/${id}/level`, { open: [] });
    const [one] = level.functions;
    await tree
      .getByRole("treeitem", {
        name: new RegExp(one.name.replace("__function_library__", "")),
      })
      .click();
    const alone = await ask(logs, `graphs/${id}/level`, {
      scope: one.name,
      open: [],
    });
    await eventually(
      () => drawn(page),
      alone.nodes.map((each) => each.name).sort(),
      "the function alone",
    );
    equal(await axe(page), [], "accessibility");
    await page.getByRole("button", { name: "whole graph" }).click();
    await eventually(
      () => drawn(page),
      level.nodes.map((each) => each.name).sort(),
      "the whole graph again",
    );
  },
  { dark: true },
);

test("graph: run metadata as colours with a legend", async ({ page, open }) => {
  const logs = corpus("graph_raw");
  let entry;
  await eventually(
    async () => {
      // the server may still be loading
      entry = (await ask(logs, "graphs")).find(
        (one) => one.metadata.length > 0,
      );
      return entry !== undefined;
    },
    true,
    "a graph with run metadata",
  );
  await open(logs, "#graphs");
  await ready(page);
  await page.getByRole("button", { name: /^Graph / }).click();
  await page
    .getByRole("option", { name: new RegExp(entry.run) })
    .first()
    .click();
  await page.getByRole("button", { name: /^Run metadata/ }).click();
  await page.getByRole("option", { name: entry.metadata[0] }).click();
  await page.getByRole("button", { name: /^Colour/ }).click();
  await page.getByRole("option", { name: "compute time" }).click();
  const picture = (inside) =>
    ask(
      logs,
      `graphs/${entry.id}/level?metadata=${encodeURIComponent(entry.metadata[0])}`,
      { open: inside },
    );
  const folded = await picture([]);
  const level =
    folded.nodes.length === 1 ? await picture([folded.nodes[0].name]) : folded; // a single box opens by itself
  const timed = level.nodes.filter((one) => one.time_ps > 0 && !one.open);
  check(timed.length > 0, "no box has a time");
  await eventually(
    () =>
      node(page, timed[0].name)
        .locator(".body")
        .evaluate((body) => body.style.fill !== ""),
    true,
    "a timed box is filled",
  );
  await page.locator(".legend").getByText(/^0 – /).waitFor();
  equal(await axe(page), [], "accessibility");
});

test(
  "graph: export as PNG, SVG and text; upload of a file, and of one that is none",
  async ({ page, open }) => {
    const logs = corpus("keras_fit");
    await open(logs, "#graphs");
    await ready(page);
    const save = async (kind) => {
      await page.getByRole("button", { name: "Export and upload" }).click();
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("menuitem", { name: kind }).click(),
      ]);
      return readFileSync(await download.path());
    };
    const png = await save("Image as PNG");
    equal(png.subarray(1, 4).toString(), "PNG", "PNG");
    check(png.readUInt32BE(16) > 100 && png.length > 2000, "an empty picture");
    const svg = (await save("Image as SVG")).toString();
    const names = await drawn(page);
    for (const name of names)
      check(
        svg.includes(name.split("/").at(-1).slice(0, 8)),
        `${name} is not in the SVG`,
      );
    const text = (await save("Graph as text")).toString();
    check(/node \{\s+name: "/.test(text), `pbtxt: ${text.slice(0, 60)}`);
    const folder = temporary();
    writeFileSync(
      join(folder, "mine.pbtxt"),
      'node { name: "a" op: "Placeholder" }\nnode { name: "b" op: "Relu" input: "a" }\n',
    );
    writeFileSync(join(folder, "bad.pbtxt"), 'node { name: "a"');
    await page
      .locator("input[type=file]")
      .setInputFiles(join(folder, "mine.pbtxt"));
    await eventually(() => drawn(page), ["a", "b"], "the uploaded graph");
    await page
      .locator("input[type=file]")
      .setInputFiles(join(folder, "bad.pbtxt"));
    await page
      .getByText(/the text ends inside a message/)
      .first()
      .waitFor();
  },
  { console: false },
);

test("graph: of a large one only boxes in view are in the page; a large attribute is cut and its size said", async ({
  page,
  open,
}) => {
  const logs = temporary();
  const nodes = [
    { name: "start", op: "Const", attributes: { note: "x".repeat(5000) } },
  ];
  for (let layer = 0; layer < 600; layer++) {
    for (let i = 0; i < 5; i++)
      nodes.push({
        name: `net/layer_${layer}_${"abc"[layer % 3]}/op${"vwxyz"[i]}`,
        op: ["MatMul", "BiasAdd", "Relu", "Mul", "Sub"][i],
        inputs: [nodes.at(-1).name],
      });
  }
  writeGraph(logs, "train", nodes);
  await open(logs, "#graphs");
  await ready(page);
  const [{ id }] = await ask(logs, "graphs");
  const level = await ask(logs, `graphs/${id}/level`, { open: ["net"] });
  check(level.nodes.length >= 600, `${level.nodes.length} boxes on the server`);
  if ((await page.locator('.node[data-name^="net/"]').count()) === 0)
    await node(page, "net").locator(".plus").click();
  await page.locator('.node[data-name^="net/"]').first().waitFor();
  await settled(page);
  await passes(async () => {
    const here = await page.locator(".node").count();
    check(here < 200, `${here} of ${level.nodes.length} boxes are in the page`);
  });
  await page.getByRole("textbox", { name: "Search nodes" }).fill("^start$");
  await page
    .getByRole("list", { name: "Nodes found" })
    .getByRole("button")
    .first()
    .click();
  const detail = await ask(logs, `graphs/${id}/node?name=start`);
  const [note] = detail.attributes;
  check(
    note.text.length < 1100 && note.text.endsWith("…"),
    `the text has ${note.text.length} characters`,
  );
  const info = page.getByRole("complementary", { name: "The selected node" });
  await info
    .getByText(/^note [\d.]+ (kB|KiB)$/)
    .first()
    .waitFor();
});
