// Pages do what their controls say: palette, text search, graph, film strip, projector, tables, keys: one test a fault.
import { deflateSync } from "node:zlib";
import { writeGraph, writeRun } from "./events.mjs";
import {
  check,
  corpus,
  equal,
  eventually,
  passes,
  settled,
  temporary,
  test,
} from "./harness.mjs";
import { card, choose, logdir, ready } from "./known.mjs";

const series = (values, tag = "loss") =>
  values.map((value, i) => [i, { [tag]: value }]);
const tabOf = (page) =>
  page.evaluate(() => location.hash.replace(/^#/, "").split("&")[0]);

// 11 ------------------------------------------------------------------------------------------------------------------

test("truth 11: the palette puts an exact tag before commands and lists no internals", async ({
  page,
  open,
}) => {
  const dir = temporary();
  writeRun(dir, "a", [
    [0, { help: 1, "_hparams_/session_start_info": 1 }],
    [1, { help: 2, "_hparams_/session_start_info": 2 }],
  ]);
  await open(dir);
  await ready(page, "help");
  await page.keyboard.press("Control+k");
  const box = page.getByRole("dialog").getByRole("combobox");
  await box.fill("help");
  await eventually(
    async () =>
      (await page.getByRole("option").first().textContent()).trim().slice(0, 4),
    "help",
    "the first entry",
  );
  await box.fill("_hparams_");
  await settled(page);
  equal(
    await page.getByRole("option", { name: /_hparams_/ }).count(),
    0,
    "internals",
  );
});

test("truth 11: a text search hides cards without a hit, and brings them back", async ({
  page,
  open,
}) => {
  const dir = temporary();
  for (const [run, text] of [
    ["a", "the quick fox"],
    ["b", "a slow bear"],
    ["c", "another fox"],
  ])
    writeRun(dir, run, [[0, { note: { text } }]]);
  await open(dir, "#text");
  const cards = () => page.locator("main section.card").count();
  await eventually(cards, 3, "cards");
  const find = page.locator(".find input");
  await find.fill("fox");
  await eventually(cards, 2, "cards with a fox");
  await find.fill("zebra");
  // Cards go one by one, as their answers arrive; then the page says it once.
  await eventually(cards, 0, "cards with a zebra");
  await page.getByText("No text contains “zebra”").waitFor();
  await find.fill("");
  await eventually(cards, 3, "all cards again");
});

const wideGraph = () => {
  const dir = temporary();
  const nodes = [{ name: "in", op: "Placeholder" }];
  for (const scope of ["left", "right"])
    for (let i = 0; i < 14; i++)
      nodes.push({
        name: `${scope}/part_${"abcdefghijklmnop"[i]}/op`,
        op: "Relu",
        inputs: ["in"],
      });
  writeGraph(dir, "model", nodes);
  return dir;
};
const inside = (page, locator) =>
  passes(async () => {
    const window = await page.locator(".canvas").boundingBox();
    const box = await locator.boundingBox();
    check(
      box.x >= window.x - 1 &&
        box.y >= window.y - 1 &&
        box.x + box.width <= window.x + window.width + 1,
      `${JSON.stringify(box)} is not inside ${JSON.stringify(window)}`,
    );
  });

test("truth 11: the camera of the graph follows an expansion", async ({
  page,
  open,
}) => {
  await open(wideGraph(), "#graphs");
  const right = page.locator('.node[data-name="right"]');
  await right.waitFor();
  await settled(page);
  for (let i = 0; i < 3; i++)
    await page.getByRole("button", { name: /Zoom in/ }).click();
  await right.locator(".plus").dispatchEvent("click");
  await page.locator('.node[data-name="right/part_a"]').waitFor();
  await settled(page);
  await inside(page, right);
});

test("truth 11: arrow keys in the graph and its outline show what they select", async ({
  page,
  open,
}) => {
  await open(wideGraph(), "#graphs");
  const scope = page.locator('.node[data-name="left"]');
  await scope.waitFor();
  await scope.locator(".plus").dispatchEvent("click");
  const first = page.locator('.node[data-name="left/part_a"]');
  await first.waitFor();
  await settled(page);
  const chosen = () =>
    page
      .locator(".node.chosen")
      .evaluateAll((all) => all.map((one) => one.dataset.name));
  await first.dispatchEvent("click");
  await eventually(chosen, ["left/part_a"]);
  await page.locator(".canvas").focus();
  await page.keyboard.press("ArrowRight");
  await eventually(
    async () => (await chosen())[0] !== "left/part_a",
    true,
    "the next box is selected",
  );
  await inside(page, page.locator(".node.chosen"));
  await page.getByRole("treeitem").first().focus();
  await page.keyboard.press("End");
  const last = await page
    .getByRole("treeitem")
    .last()
    .evaluate((item) => item.textContent);
  await eventually(
    async () => {
      const [name] = await chosen();
      return name !== undefined && last.includes(name.split("/").at(-1));
    },
    true,
    "what the outline selects",
  );
});

test("truth 11: labels of edges lie above the boxes", async ({
  page,
  open,
}) => {
  await open(corpus("torch_graph"), "#graphs");
  await page.locator(".node").first().waitFor();
  await settled(page);
  for (let i = 0; i < 12; i++)
    await page.getByRole("button", { name: /Zoom in/ }).click();
  await page.locator("text.shape").first().waitFor({ state: "attached" });
  equal(
    await page.locator("g.world").evaluate((world) => {
      const all = [...world.querySelectorAll(".node, text.shape")];
      const firstLabel = all.findIndex((one) => one.matches("text.shape"));
      const lastBox = all.findLastIndex((one) => one.matches(".node"));
      return firstLabel > lastBox;
    }),
    true,
    "the order of painting",
  );
});

/** A PNG of one colour. */
function png(shade) {
  const table = Array.from({ length: 256 }, (_, n) => {
    let c = n;
    for (let k = 0; k < 8; k++) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
    return c >>> 0;
  });
  const sum = (bytes) => {
    let c = 0xffffffff;
    for (const byte of bytes) c = table[(c ^ byte) & 255] ^ (c >>> 8);
    return (c ^ 0xffffffff) >>> 0;
  };
  const chunk = (type, data) => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const out = Buffer.alloc(8);
    out.writeUInt32BE(data.length, 0);
    out.writeUInt32BE(sum(body), 4);
    return Buffer.concat([out.subarray(0, 4), body, out.subarray(4)]);
  };
  const head = Buffer.from([0, 0, 0, 8, 0, 0, 0, 8, 8, 0, 0, 0, 0]);
  const rows = Buffer.concat(
    Array.from({ length: 8 }, () =>
      Buffer.from([0, ...Array.from({ length: 8 }, () => shade)]),
    ),
  );
  return Buffer.concat([
    Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]),
    chunk("IHDR", head),
    chunk("IDAT", deflateSync(rows)),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

test("truth 11: the film strip marks the step of the slider", async ({
  page,
  open,
}) => {
  const dir = temporary();
  writeRun(
    dir,
    "a",
    Array.from({ length: 60 }, (_, i) => [i, { img: { picture: png(4 * i) } }]),
  );
  await open(dir, "#images");
  await page.locator("main img, main canvas").first().waitFor();
  await page
    .getByRole("radio", { name: /Compare|Side by side/ })
    .first()
    .click();
  await page.locator(".film").waitFor();
  const slider = page.getByRole("slider", { name: /Step/ }).first();
  await slider.focus();
  await page.keyboard.press("Home");
  for (let i = 0; i < 17; i++) await page.keyboard.press("ArrowRight");
  await settled(page);
  const now = await page
    .getByRole("textbox", { name: /Step/ })
    .first()
    .inputValue();
  await eventually(
    () =>
      page
        .locator('.film [aria-current="step"]')
        .evaluateAll((all) => all.map((one) => one.textContent.trim())),
    [now],
    "the marked step",
  );
});

test("truth 11: images of the projector keep their colours unless asked", async ({
  page,
  open,
}) => {
  await open(corpus("projector_images"), "#projector");
  await page.getByRole("radio", { name: "Images", exact: true }).click();
  const tint = page.getByRole("switch", { name: "Tint images by colour" });
  await tint.waitFor();
  equal(await tint.isChecked(), false, "tinted from the start");
  await settled(page);
});

test("truth 11: a chart says which runs lack its x axis", async ({
  page,
  open,
}) => {
  const dir = temporary();
  writeRun(dir, "with", [
    [0, { loss: 1, epoch: 0 }],
    [1, { loss: 2, epoch: 1 }],
  ]);
  writeRun(dir, "without", series([1, 2]));
  await open(dir);
  await ready(page, "loss");
  await choose(page, "X", "epoch");
  await card(page, "loss").getByText("1 run has no epoch").waitFor();
});

test("truth 11: Escape closes what help says", async ({ page, open }) => {
  await open(logdir());
  await ready(page);
  const closes = async (what, show, sign) => {
    await show();
    await sign().waitFor();
    await page.keyboard.press("Escape");
    await eventually(() => sign().count(), 0, what);
  };
  const dialog = () => page.getByRole("dialog");
  await page.locator("main").focus();
  await closes("help", () => page.keyboard.press("?"), dialog);
  await closes("the palette", () => page.keyboard.press("Control+k"), dialog);
  await closes(
    "a menu",
    () =>
      card(page, "eval/acc")
        .getByRole("button", { name: "More actions" })
        .click(),
    () => page.getByRole("menu"),
  );
  await closes(
    "full size",
    async () => {
      await card(page, "eval/acc").locator("[data-chart=ready]").focus();
      await page.keyboard.press("f");
    },
    () => page.locator(".card.full"),
  );
  const filter = page.locator(".tagf input");
  await filter.fill("loss");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape"); // the first closes the suggestions
  equal(await filter.inputValue(), "", "the filter");
});

test("truth 11: the table of PR curves shows every row", async ({
  page,
  open,
}) => {
  await open(corpus("pr_curves_custom_scalars"), "#pr_curves");
  const rows = page.locator("main section.card .rows").first();
  await rows.locator("tbody tr").first().waitFor();
  await settled(page);
  equal(
    await rows.evaluate(
      (box) =>
        box.scrollHeight <= box.clientHeight + 1 &&
        getComputedStyle(box).maxHeight,
    ),
    "none",
    "rows that have to be scrolled to",
  );
});

test("truth 11: the run list is one Tab stop, its head is reached by arrows", async ({
  page,
  open,
}) => {
  await open(logdir());
  await ready(page);
  equal(
    await page
      .locator("[role=treegrid]")
      .evaluate(
        (grid) =>
          [...grid.querySelectorAll("*"), grid].filter(
            (one) =>
              one.tabIndex >= 0 &&
              one.matches("button, input, a[href], [tabindex]"),
          ).length,
      ),
    1,
    "Tab stops",
  );
  await page.locator("[role=treegrid] [data-row]").first().focus();
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("ArrowRight");
  equal(
    await page.evaluate(() => document.activeElement.textContent.trim()),
    "Run",
    "the head of the names",
  );
  await page.keyboard.press("ArrowDown");
  // The row takes the focus in the next frame, when the list has been drawn.
  await page.waitForFunction(
    () => document.activeElement.getAttribute("role") === "row",
  );
});

// 12 ------------------------------------------------------------------------------------------------------------------

test("truth 12: a log axis of 0.85–1.0 keeps to its values", async ({
  page,
  open,
}) => {
  const dir = temporary();
  writeRun(
    dir,
    "a",
    series(
      Array.from({ length: 60 }, (_, i) => 0.85 + (0.15 * i) / 59),
      "acc",
    ),
  );
  await open(dir);
  await ready(page, "acc");
  await card(page, "acc").locator("[data-chart=ready]").focus();
  await page.keyboard.press("l");
  await settled(page);
  // The line has at least half of the height: from 0.5 to 2 it would have a ninth.
  const share = await card(page, "acc")
    .locator("canvas")
    .first()
    .evaluate((canvas) => {
      const g = canvas.getContext("2d");
      const { width, height } = canvas;
      const data = g.getImageData(0, 0, width, height).data;
      let [top, bottom] = [height, 0];
      for (let y = 0; y < height; y++)
        for (let x = Math.round(width * 0.2); x < width; x++) {
          const i = (y * width + x) * 4;
          const [r, b] = [data[i], data[i + 2]];
          if (data[i + 3] > 200 && Math.abs(r - b) > 60)
            [top, bottom] = [Math.min(top, y), Math.max(bottom, y)];
        }
      return (bottom - top) / height;
    });
  check(share > 0.5, `the line has ${share} of the height`);
});

test("truth 12: two tags of one run keep its colour and have a legend", async ({
  page,
  open,
}) => {
  const dir = temporary();
  for (const run of ["a", "b"])
    writeRun(dir, run, [
      [0, { one: 1, two: 2 }],
      [1, { one: 2, two: 3 }],
    ]);
  const state = {
    ts: { combos: [["one", "two"]] },
    runs: { base: "none", flip: ["b"] },
  };
  await open(
    dir,
    `#timeseries&v=1.${Buffer.from(JSON.stringify(state)).toString("base64url")}`,
  );
  await ready(page, "one\ntwo");
  const legend = card(page, "one\ntwo").locator("ul li");
  await eventually(
    () => legend.evaluateAll((all) => all.map((one) => one.textContent.trim())),
    ["one", "two"],
    "the legend",
  );
  const lines = await legend
    .locator("line")
    .evaluateAll((all) =>
      all.map((one) => [
        one.getAttribute("stroke"),
        one.getAttribute("stroke-dasharray"),
      ]),
    );
  equal(new Set(lines.map(([colour]) => colour)).size, 1, "colours");
  equal(new Set(lines.map(([, dash]) => dash)).size, 2, "dashes");
});

test("truth 12: swatches show the dashes of their lines", async ({
  page,
  open,
}) => {
  const dir = temporary();
  for (let i = 0; i < 26; i++)
    writeRun(dir, `r${String(i).padStart(2, "0")}`, series([1, 2]));
  await open(dir);
  await ready(page, "loss");
  const paints = () =>
    page
      .locator("[role=treegrid] [data-row] .swatch")
      .evaluateAll((all) => all.map((one) => one.style.background));
  await eventually(
    async () =>
      (await paints()).filter((one) => one.includes("gradient")).length,
    2,
    "striped swatches",
  );
});

test("truth 12: a tag without a name has a title", async ({ page, open }) => {
  await open(corpus("edge_tags"));
  await page.locator("[data-card]").first().waitFor();
  await settled(page);
  equal(
    await page
      .locator("main h2, main h3")
      .evaluateAll(
        (all) => all.filter((one) => one.textContent.trim() === "").length,
      ),
    0,
    "titles without a letter",
  );
});

test(
  "truth 12: nothing in the header overlaps on a phone",
  async ({ page, open }) => {
    await open(logdir());
    await ready(page);
    const boxes = await page
      .locator("header.hdr")
      .locator(".brand, .where, button, a.tab")
      .evaluateAll((all) =>
        all
          .map((one) => [
            one.getAttribute("aria-label") ?? one.textContent.trim(),
            one.getBoundingClientRect(),
          ])
          .filter(([, box]) => box.width > 0)
          .map(([name, { left, right }]) => [name, left, right])
          .sort((a, b) => a[1] - b[1]),
      );
    for (let i = 1; i < boxes.length; i++)
      check(
        boxes[i][1] >= boxes[i - 1][2] - 1,
        `${boxes[i - 1]} and ${boxes[i]} overlap`,
      );
    check(boxes.at(-1)[2] <= 390, `${boxes.at(-1)} leaves the window`);
  },
  { viewport: { width: 390, height: 844 } },
);

test("truth 12: an empty form of a chart complains of nothing", async ({
  page,
  open,
}) => {
  await open(logdir(), "#custom_scalars");
  await page
    .getByRole("button", { name: /New chart|Add chart/ })
    .first()
    .click();
  const form = page.getByRole("dialog");
  await form.waitFor();
  const said = async () =>
    (await form.getByRole("status").allTextContents()).join("").trim();
  equal(await said(), "", "complaints");
  await form.getByRole("textbox", { name: "Title" }).fill("x");
  await eventually(
    async () => (await said()) !== "",
    true,
    "what is missing, once something was typed",
  );
});

test("truth 12: histogram cards name their run, and distributions are their quantiles", async ({
  page,
  open,
}) => {
  const dir = temporary();
  for (const run of ["a", "b"])
    writeRun(dir, run, [
      [
        0,
        {
          w: {
            histogram: [
              0,
              1,
              [
                [0.5, 3],
                [1, 4],
              ],
            ],
          },
        },
      ],
      [
        1,
        {
          w: {
            histogram: [
              0,
              2,
              [
                [1, 3],
                [2, 4],
              ],
            ],
          },
        },
      ],
    ]);
  await open(dir, "#histograms");
  const heads = () =>
    page
      .locator("main section.card > header")
      .evaluateAll((all) => all.map((one) => one.textContent.trim()));
  await eventually(async () => (await heads()).length, 2, "cards");
  (await heads()).forEach((head, i) =>
    check(/\b[ab]\b/.test(head.replace(/^w/, "")), `card ${i}: ${head}`),
  );
  await page
    .getByRole("textbox", { name: /Filter/ })
    .last()
    .fill("w");
  await page.locator("nav a.tab", { hasText: "Distributions" }).click();
  await eventually(() => tabOf(page), "distributions");
  const mode = page.getByRole("radio", { name: "Quantiles", exact: true });
  await eventually(
    () => mode.isChecked(),
    true,
    "the same page, on its quantiles",
  );
  await page.getByRole("radio", { name: "Offset", exact: true }).click();
  await eventually(() => tabOf(page), "histograms");
});
