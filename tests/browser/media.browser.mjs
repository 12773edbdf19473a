// The media dashboards used as a person would, on real log directories. Numbers on screen are compared with
// TensorBoard's routes of the same server, which have tests of their own against recorded answers.
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
  corpus,
  equal,
  eventually,
  numberOf as read,
  passes,
  serve,
  settled,
  temporary,
  test as register,
} from "./harness.mjs";

const CORPORA = [
  "tf2_images",
  "tf2_audio",
  "tf2_text",
  "tf2_histograms",
  "keras_fit",
  "mesh",
  "pr_curves_custom_scalars",
  "custom_loop_images",
];

function writable(path) {
  chmodSync(path, statSync(path).mode | 0o200);
  if (statSync(path).isDirectory())
    for (const name of readdirSync(path)) writable(join(path, name));
}

let logs;
/** The corpus directories side by side, copied because a test saves something beside them. */
function logdir() {
  if (logs !== undefined) return logs;
  logs = temporary();
  for (const name of CORPORA)
    cpSync(corpus(name), join(logs, name), { recursive: true });
  writable(logs);
  return logs;
}

const get = async (path) =>
  (await fetch(`${(await serve(logdir())).replace(/\/$/, "")}/${path}`)).json();

function close(actual, expected, share, what) {
  check(
    Math.abs(actual - expected) <= Math.abs(expected) * share + 1e-9,
    `${what} is ${actual}, expected ${expected}`,
  );
}

/** A test on one dashboard that also fails on serious findings of axe. */
function test(
  name,
  tab,
  look,
  { width = 1440, height = 900, dark = false } = {},
) {
  register(
    name,
    async ({ page, open }) => {
      await open(logdir(), `#${tab}`);
      await look(page);
      equal(await axe(page), [], "accessibility");
    },
    { viewport: { width, height }, dark },
  );
}

const card = (page, name) => page.getByRole("region", { name, exact: true });
const segment = (page, name) =>
  page.getByRole("radio", { name, exact: true }).click();
const plugin = (path, query) =>
  get(`data/plugin/${path}?${new URLSearchParams(query)}`);

test(
  "images: every step is on the slider, arrows move it",
  "images",
  async (page) => {
    await page.getByRole("textbox", { name: "Filter tags" }).fill("many_steps");
    const slider = page.getByRole("slider", { name: "Step" });
    await eventually(
      () => slider.getAttribute("aria-valuetext"),
      "step 13, 14 of 14",
      "the newest step",
    );
    await slider.press("Home");
    await slider.press("ArrowRight");
    await eventually(
      () => slider.getAttribute("aria-valuetext"),
      "step 1, 2 of 14",
      "the second step",
    );
    const here = card(page, "many_steps of tf2_images/train");
    await here.getByText("step 1", { exact: true }).waitFor();
    // TensorBoard keeps a sample of the steps; at one that it kept the bytes must be the same.
    const kept = await plugin("images/images", {
      run: "tf2_images/train",
      tag: "many_steps",
      sample: 0,
    });
    const one = kept.find((item) => item.step > 1);
    await page.getByRole("textbox", { name: "Step" }).fill(String(one.step));
    await page.getByRole("textbox", { name: "Step" }).press("Enter");
    await here.getByText(`step ${one.step}`, { exact: true }).waitFor();
    const same = await page.waitForFunction(async (theirs) => {
      const img = [...document.querySelectorAll("img")].find((node) =>
        node.alt.startsWith("many_steps"),
      );
      const [a, b] = await Promise.all(
        [img.src, theirs].map(async (url) =>
          new Uint8Array(await (await fetch(url)).arrayBuffer()).join(),
        ),
      );
      return a === b;
    }, `data/plugin/images/individualImage?${one.query}`);
    equal(await same.jsonValue(), true, "bytes of the picture");
  },
);

test("images: brightness, contrast and actual size", "images", async (page) => {
  await page.getByRole("textbox", { name: "Filter tags" }).fill("^rgb$");
  const picture = page.getByRole("img", { name: /^rgb of/ }).first();
  await picture.waitFor();
  await page.getByRole("textbox", { name: "Brightness" }).fill("1.5");
  await page.getByRole("textbox", { name: "Brightness" }).press("Enter");
  await eventually(
    () => picture.evaluate((node) => getComputedStyle(node).filter),
    "contrast(1) brightness(1.5)",
    "brighter",
  );
  await page.waitForURL(/&v=/);
  await page.getByRole("button", { name: "Reset display" }).click();
  await eventually(
    () => picture.evaluate((node) => getComputedStyle(node).filter),
    "none",
    "as it is",
  );
  await page
    .getByRole("button", { name: "Actual size of rgb" })
    .first()
    .click();
  await eventually(
    () =>
      picture.evaluate(
        (node) =>
          node.naturalWidth > 0 && node.clientWidth === node.naturalWidth,
      ),
    true,
    "width on screen",
  );
});

test("images: difference of two steps in numbers", "images", async (page) => {
  await segment(page, "Side by side");
  await page.getByRole("button", { name: /^Tag / }).click();
  await page.getByRole("combobox").fill("many_steps");
  await page.getByRole("option", { name: "many_steps" }).click();
  await page.locator("[data-stat=mean]").waitFor();
  await page
    .getByRole("region", { name: /^Side A/ })
    .getByText("step 13")
    .waitFor();
  await page
    .getByRole("region", { name: /^Side B/ })
    .getByText("step 12")
    .waitFor();
  const expected = await page.evaluate(async () => {
    const list = await (
      await fetch(
        "api/v1/media?run=tf2_images/train&tag=many_steps&from=0&count=100",
      )
    ).json();
    const channels = async (ref) => {
      const bitmap = await createImageBitmap(
        await (await fetch(`api/v1/blob/${ref}`)).blob(),
      );
      const g = new OffscreenCanvas(bitmap.width, bitmap.height).getContext(
        "2d",
      );
      g.drawImage(bitmap, 0, 0);
      const px = g.getImageData(0, 0, bitmap.width, bitmap.height).data;
      return Array.from(px, (v) => v / 255).filter((_, i) => i % 4 < 3);
    };
    const [a, b] = [
      await channels(list.items[13].samples[0].ref),
      await channels(list.items[12].samples[0].ref),
    ];
    return a.reduce((sum, v, i) => sum + Math.abs(v - b[i]), 0) / a.length;
  });
  await page.waitForFunction(
    (want) =>
      Math.abs(
        Number(document.querySelector("[data-stat=mean]").textContent) - want,
      ) < 5e-4,
    expected,
  );
  for (const mode of ["Wipe", "Difference", "Flicker"]) {
    await segment(page, mode);
    await page.getByRole("application").first().waitFor();
  }
  await segment(page, "Difference");
  await page.getByRole("radio", { name: "Magnitude", exact: true }).click();
  await page.getByRole("region", { name: "|A − B|" }).waitFor();
});

test(
  "images: 25 samples of one step, zoom by keys",
  "images",
  async (page) => {
    await page
      .getByRole("textbox", { name: "Filter tags" })
      .fill("25 training");
    await card(
      page,
      "25 training examples of custom_loop_images/train_data, sample 25",
    ).waitFor();
    await card(
      page,
      "25 training examples of custom_loop_images/train_data, sample 7",
    )
      .getByRole("button", { name: "Compare and zoom" })
      .click();
    await page.getByRole("button", { name: /^Sample 7 of 25/ }).waitFor();
    const view = page.getByRole("application").first();
    await view.waitFor();
    await settled(page);
    const before = await view
      .locator("canvas")
      .evaluate((node) => node.toDataURL());
    await view.press("+");
    await page.waitForFunction(
      (old) =>
        document.querySelector("[role=application] canvas").toDataURL() !== old,
      before,
    );
    await view.press("0");
  },
  { dark: true },
);

const histogram = async (run, tag) =>
  (await plugin("histograms/histograms", { run, tag })).at(-1);

test(
  "histograms: statistics under the card equal the data",
  "histograms",
  async (page) => {
    const tags = await plugin("histograms/tags", {});
    const run = "keras_fit/train";
    const tag = Object.keys(tags[run])[0];
    await page.getByRole("textbox", { name: "Filter tags" }).fill(`^${tag}$`);
    const here = card(page, `${tag} of ${run}`);
    await here.getByText("values").waitFor();
    const [, step, buckets] = await histogram(run, tag);
    const count = buckets.reduce((sum, [, , c]) => sum + c, 0);
    const mean =
      buckets.reduce((sum, [l, r, c]) => sum + ((l + r) / 2) * c, 0) / count;
    await passes(async () => {
      const foot = await here.locator(".foot").innerText();
      close(read(/values\s+(\S+)/.exec(foot)[1]), count, 1e-9, "count");
      close(read(/mean\s+(\S+)/.exec(foot)[1]), mean, 2e-3, "mean");
      equal(foot.includes(`step ${step}`), true, "newest step");
    });
    for (const mode of ["Heat map", "Overlay", "Quantiles", "Offset"]) {
      await segment(page, mode);
      await here.getByRole("application", { name: new RegExp(mode) }).waitFor();
    }
    // The keyboard walks through steps and links one.
    await here.getByRole("application").press("ArrowUp");
    await here.locator(".tip").waitFor();
    await here.getByRole("application").press("Enter");
    await page.getByText(/Step \d+ linked/).waitFor();
  },
);

test("histograms: the table has every step", "histograms", async (page) => {
  const tag = Object.keys(
    (await plugin("histograms/tags", {}))["tf2_histograms/train"],
  )[0];
  const all = await plugin("histograms/histograms", {
    run: "tf2_histograms/train",
    tag,
  });
  await page.getByRole("textbox", { name: "Filter tags" }).fill(`^${tag}$`);
  const here = card(page, `${tag} of tf2_histograms/train`);
  await here.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitemcheckbox", { name: "Show as table" }).click();
  await eventually(() => here.locator("tbody tr").count(), all.length, "rows");
});

test(
  "histograms: Shift links a range of steps, its span is under the card",
  "histograms",
  async (page) => {
    const run = "tf2_histograms/train";
    const tag = Object.keys((await plugin("histograms/tags", {}))[run])[0];
    const all = await plugin("histograms/histograms", { run, tag });
    await page.getByRole("textbox", { name: "Filter tags" }).fill(`^${tag}$`);
    const here = card(page, `${tag} of ${run}`);
    const plot = here.getByRole("application");
    await here.locator(".foot").getByText("values").waitFor(); // a plot without data takes no keys
    await plot.press("ArrowUp");
    await here.locator(".tip").waitFor();
    for (let i = 0; i < all.length; i++) await plot.press("ArrowUp"); // the first step
    await plot.press("Enter");
    await plot.press("ArrowDown");
    await plot.press("ArrowDown");
    await plot.press("Shift+Enter");
    const [from, to] = [all[0][1], all[2][1]];
    await page.getByText(new RegExp(`Steps ${from} – ${to} linked`)).waitFor();
    await plot.press("Escape");
    const means = all
      .slice(0, 3)
      .map(
        ([, , buckets]) =>
          buckets.reduce((sum, [l, r, c]) => sum + ((l + r) / 2) * c, 0) /
          buckets.reduce((sum, [, , c]) => sum + c, 0),
      );
    await passes(async () => {
      const foot = await here.locator(".foot").innerText();
      check(/steps \d+ – \d+/.test(foot), `no range of steps in ${foot}`);
      const shown = /mean\s+(\S+) … (\S+)/.exec(foot);
      close(read(shown[1]), Math.min(...means), 2e-2, `least mean in ${foot}`);
      close(
        read(shown[2]),
        Math.max(...means),
        2e-2,
        `greatest mean in ${foot}`,
      );
    });
    for (const mode of ["Heat map", "Overlay", "Quantiles"]) {
      await segment(page, mode);
      await here.getByRole("application", { name: new RegExp(mode) }).waitFor();
    }
  },
);

test(
  "distributions: nine percentiles equal TensorBoard’s",
  "distributions",
  async (page) => {
    const run = "keras_fit/train";
    const tag = Object.keys((await plugin("histograms/tags", {}))[run])[0];
    const all = await plugin("distributions/distributions", { run, tag });
    await page.getByRole("textbox", { name: "Filter tags" }).fill(`^${tag}$`);
    const here = card(page, `${tag} of ${run}`);
    await here.locator(".foot").getByText("values").waitFor(); // a plot without data takes no keys
    await here.getByRole("application").press("ArrowLeft"); // from the end: the newest step
    const wanted = all.at(-1)[2].map(([, value]) => value);
    await passes(async () => {
      const shown = (
        await here.locator(".tip tbody td:nth-child(2)").allInnerTexts()
      )
        .map(read)
        .reverse();
      equal(shown.length, 9, "percentiles");
      shown.forEach((value, i) =>
        close(value, wanted[i], 1e-3, `percentile ${i}`),
      );
    });
  },
);

test(
  "text: rendered as TensorBoard renders it, raw, searched",
  "text",
  async (page) => {
    const run = "tf2_text/run";
    const [item] = await plugin("text/text", { run, tag: "table" });
    await page.getByRole("textbox", { name: "Filter tags" }).fill("^table$");
    const here = card(page, `table of ${run}`);
    await here.locator(".words").first().waitFor();
    const plain = (html) =>
      page.evaluate(
        (text) =>
          new DOMParser()
            .parseFromString(text, "text/html")
            .body.textContent.replace(/\s+/g, " ")
            .trim(),
        html,
      );
    await eventually(
      async () =>
        (
          await here
            .locator(".words")
            .first()
            .evaluate((node) => node.textContent)
        )
          .replace(/\s+/g, " ")
          .trim(),
      await plain(item.text),
      "text",
    );
    await here.locator(".words table").first().waitFor();
    await page.getByRole("switch", { name: "Markdown" }).click();
    await here.locator("pre").first().waitFor();
    await page
      .getByRole("textbox", { name: "Search texts" })
      .fill("no such words anywhere");
    await page.getByText("No text contains").waitFor();
    equal(await here.count(), 0, "the card without a hit");
  },
);

test("text: hostile text stays text", "text", async (page) => {
  await page.getByRole("textbox", { name: "Filter tags" }).fill("hostile");
  await page
    .getByRole("region", { name: /hostile/ })
    .locator(".words")
    .first()
    .waitFor();
  await settled(page);
  equal(
    await page
      .locator(
        ".words script, .words iframe, .words [onerror], .words [onclick], .words [style]",
      )
      .count(),
    0,
    "active elements",
  );
  equal(
    await page.evaluate(() => "hacked" in window || "pwned" in window),
    false,
    "scripts ran",
  );
});

test("text: changes between steps", "text", async (page) => {
  await page.getByRole("textbox", { name: "Filter tags" }).fill("hostile/a");
  await segment(page, "Changes");
  await page
    .locator("pre.diff")
    .locator("ins, del")
    .first()
    .waitFor({ state: "attached" });
});

test("audio: clips with waveform, length and rate", "audio", async (page) => {
  const list = await get("api/v1/media?run=tf2_audio&tag=mono&from=-1&count=1");
  const sample = list.items[0].samples[0];
  const here = card(page, "mono of tf2_audio, clip 1");
  await here.getByText("Hz").waitFor();
  await passes(async () => {
    const text = await here.innerText();
    equal(
      text.replaceAll("\u202f", "").includes(`${sample.rate} Hz`),
      true,
      "sample rate",
    );
    close(read(/\/ 0:(\S+)/.exec(text)[1]), sample.seconds, 0.02, "seconds");
  });
  const wave = here.getByRole("application");
  await wave.press("End");
  await here.getByRole("button", { name: "Play" }).waitFor();
  await eventually(
    () =>
      page.getByRole("region", { name: /^mono of tf2_audio, clip/ }).count(),
    2,
    "clips",
  );
});

test("PR curves: average precision and read-out", "pr_curves", async (page) => {
  const runs = [
    "pr_curves_custom_scalars/good",
    "pr_curves_custom_scalars/poor",
  ];
  const tags = await plugin("pr_curves/tags", {});
  const tag = Object.keys(tags[runs[0]])[0];
  const curves = await get(
    `data/plugin/pr_curves/pr_curves?tag=${encodeURIComponent(tag)}&run=${encodeURIComponent(runs[0])}`,
  );
  const last = curves[runs[0]].at(-1);
  const area = last.recall.reduce(
    (sum, r, i) =>
      sum + Math.max(0, r - (last.recall[i + 1] ?? 0)) * last.precision[i],
    0,
  );
  const cell = page
    .locator("tr", { hasText: runs[0] })
    .locator("[data-ap]")
    .first();
  await cell.waitFor();
  await passes(async () =>
    close(
      Number(await cell.getAttribute("data-ap")),
      area,
      1e-6,
      "average precision",
    ),
  );
  await page.getByRole("switch", { name: "Show values at a threshold" }).click();
  const i = last.thresholds.reduce(
    (best, th, k) =>
      Math.abs(th - 0.5) < Math.abs(last.thresholds[best] - 0.5) ? k : best,
    0,
  );
  await passes(async () => {
    const cells = await page
      .locator("tr", { hasText: runs[0] })
      .first()
      .locator("td")
      .allInnerTexts();
    close(read(cells[2]), last.precision[i], 1e-3, "precision at 0.5");
    close(read(cells[3]), last.recall[i], 1e-3, "recall at 0.5");
  });
  await page.getByRole("slider", { name: "Step", exact: true }).press("Home");
  const first = curves[runs[0]][0];
  await page.waitForFunction(
    (step) =>
      [...document.querySelectorAll("tr")].some(
        (row) =>
          row.textContent.includes("good") &&
          row.lastElementChild.textContent === step,
      ),
    String(first.step),
  );
});

test(
  "mesh: counts equal the data, camera moves and is shared",
  "mesh",
  async (page) => {
    const here = card(page, "tetra of mesh/run");
    await here.getByText("4 points · 4 triangles").waitFor();
    const canvas = here.locator("canvas");
    const colours = () =>
      canvas.evaluate((node) => {
        const px = node
          .getContext("2d")
          .getImageData(0, 0, node.width, node.height).data;
        const seen = new Set();
        for (let i = 0; i < px.length; i += 64)
          seen.add(`${px[i] >> 5},${px[i + 1] >> 5},${px[i + 2] >> 5}`);
        return seen.size;
      });
    await eventually(
      async () => (await colours()) > 8,
      true,
      "a coloured object",
    );
    await page.getByRole("button", { name: /^Camera/ }).click();
    await page.getByRole("option", { name: "same for all cards" }).click();
    const cloud = card(page, "cloud of mesh/run, sample 2").locator("canvas");
    await cloud.waitFor();
    await settled(page);
    const before = await cloud.evaluate((node) => node.toDataURL());
    await here.getByRole("application").press("ArrowRight");
    await page.waitForFunction(
      ([old]) =>
        [...document.querySelectorAll("section.card")]
          .find((node) =>
            node
              .getAttribute("aria-label")
              ?.startsWith("cloud of mesh/run, sample 2"),
          )
          .querySelector("canvas")
          .toDataURL() !== old,
      [before],
    );
    await segment(page, "Wireframe");
  },
);

test(
  "custom scalars: layouts of runs, an own chart is kept in the sidecar",
  "custom_scalars",
  async (page) => {
    const layout = await plugin("custom_scalars/layout", {});
    const open = layout.category.find((one) => !one.closed);
    await card(page, `${open.title}: ${open.chart[0].title}`).waitFor();
    await page.getByRole("button", { name: "New chart" }).first().click();
    await page.getByRole("combobox", { name: "Category" }).fill("Mine");
    await page.getByRole("textbox", { name: "Title" }).fill("Epochs");
    await page
      .getByRole("combobox", { name: "Tag expression 1" })
      .fill("epoch_");
    const wanted = (await get("api/v1/tags")).tags.filter(
      (tag) => tag.kind === "scalar" && tag.name.startsWith("epoch_"),
    ).length;
    await page.getByText(new RegExp(`^${wanted} tags? match`)).waitFor();
    await page.getByRole("button", { name: "Save chart" }).click();
    await card(page, "Mine: Epochs").locator("[data-chart=ready]").waitFor();
    const file = join(logdir(), ".sonde/sidecar.json");
    await eventually(
      () => existsSync(file) && readFileSync(file, "utf8").includes("epoch_"),
      true,
      "the sidecar",
    );
    await eventually(
      () =>
        JSON.parse(readFileSync(file, "utf8")).layouts[0].charts[0].multiline
          .tags,
      ["epoch_"],
      "saved expressions",
    );
    await page.reload();
    await card(page, "Mine: Epochs")
      .getByRole("button", { name: "More actions" })
      .click();
    await page.getByRole("menuitem", { name: "Remove Epochs" }).click();
    await card(page, "Mine: Epochs").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Undo" }).click();
    await card(page, "Mine: Epochs").waitFor();
  },
);

for (const tab of [
  "images",
  "histograms",
  "distributions",
  "text",
  "audio",
  "pr_curves",
  "mesh",
  "custom_scalars",
]) {
  test(
    `${tab} in a small frame`,
    tab,
    async (page) => {
      await page.locator("section.card").first().waitFor();
      await settled(page);
      await eventually(
        () =>
          page.evaluate(() => [
            document.documentElement.scrollWidth,
            document.documentElement.scrollHeight,
          ]),
        [800, 600],
        "size of the page",
      );
    },
    { width: 800, height: 600, dark: true },
  );
}
