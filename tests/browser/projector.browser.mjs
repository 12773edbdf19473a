// The projector used as a person would: values on screen are compared with what plain JavaScript computes
// from the files.
import {
  cpSync,
  readFileSync,
  writeFileSync,
  chmodSync,
  mkdirSync,
  readdirSync,
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
  passes,
  temporary,
  test as register,
} from "./harness.mjs";

function writable(path) {
  chmodSync(path, statSync(path).mode | 0o200);
  if (statSync(path).isDirectory())
    for (const name of readdirSync(path)) writable(join(path, name));
}
const rowsOf = (path) =>
  readFileSync(path, "utf8")
    .trim()
    .split("\n")
    .map((line) => line.split("\t"));

let logs;
function logdir() {
  if (logs !== undefined) return logs;
  logs = temporary();
  for (const name of ["projector_words", "projector_images"])
    cpSync(corpus(name), join(logs, name), { recursive: true });
  writable(logs);
  return logs;
}

/** A folder of our own: three clusters of 120 points in 8 dimensions, a name, a class and a number each. */
let own;
function clusters() {
  if (own !== undefined) return own;
  own = { dir: temporary(), vectors: [], labels: [] };
  let seed = 7;
  const random = () =>
    (seed = (seed * 1103515245 + 12345) % 2147483648) / 2147483648;
  for (let i = 0; i < 120; i++) {
    const k = i % 3;
    own.vectors.push(
      Array.from(
        { length: 8 },
        (_, d) => Math.round(((d === k ? 5 : 0) + random()) * 1000) / 1000,
      ),
    );
    own.labels.push([`item ${i}`, ["red", "green", "blue"][k], String(i / 4)]);
  }
  mkdirSync(join(own.dir, "run"));
  writeFileSync(
    join(own.dir, "run/v.tsv"),
    own.vectors.map((v) => v.join("\t")).join("\n") + "\n",
  );
  writeFileSync(
    join(own.dir, "run/m.tsv"),
    ["name\tclass\tsize", ...own.labels.map((l) => l.join("\t"))].join("\n") +
      "\n",
  );
  writeFileSync(
    join(own.dir, "run/projector_config.pbtxt"),
    'embeddings { tensor_name: "things" tensor_path: "v.tsv" metadata_path: "m.tsv" }',
  );
  return own;
}

const dot = (a, b) => a.reduce((sum, v, i) => sum + v * b[i], 0);
const DISTANCE = {
  Cosine: (a, b) => 1 - dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b)),
  Euclidean: (a, b) => Math.hypot(...a.map((v, i) => v - b[i])),
};
/** [row, distance] of all other rows, nearest first. */
const bruteForce = (vectors, row, metric) =>
  vectors
    .map((v, i) => [i, DISTANCE[metric](vectors[row], v)])
    .filter(([i]) => i !== row)
    .sort((a, b) => a[1] - b[1] || a[0] - b[0]);

const shownNeighbours = (page) =>
  page
    .locator("aside[aria-label=Inspector] .entry")
    .evaluateAll((nodes) =>
      nodes.map((node) => [
        Number(node.dataset.row),
        Number(node.querySelector(".num").textContent),
      ]),
    );

const stateOf = (page) =>
  JSON.parse(
    Buffer.from(
      /&v=1\.([\w-]+)/.exec(page.url())?.[1] ?? "e30",
      "base64url",
    ).toString(),
  ).projector ?? {};

async function choose(page, text) {
  await page.getByRole("textbox", { name: "Search points" }).fill(text);
  await page.locator("aside[aria-label=Inspector] .entry").first().click();
}
async function ready(page, n) {
  await page.locator(`[data-points="${n}"]`).waitFor();
}
async function compareNeighbours(page, vectors, row, count) {
  for (const metric of ["Cosine", "Euclidean"]) {
    await page.getByRole("radio", { name: metric, exact: true }).click();
    const wanted = bruteForce(vectors, row, metric).slice(0, count);
    await passes(async () => {
      const seen = (await shownNeighbours(page)).slice(0, count);
      equal(seen.length, count, metric);
      seen.forEach(([i, distance], k) => {
        close(distance, wanted[k][1], 0.00051, `${metric} ${k}`);
        if (
          Math.abs(wanted[k][1] - (wanted[k + 1]?.[1] ?? Infinity)) > 1e-6 &&
          Math.abs(wanted[k][1] - (wanted[k - 1]?.[1] ?? -1)) > 1e-6
        )
          equal(i, wanted[k][0], `${metric} neighbour ${k}`);
      });
    });
  }
}
const test = (name, dir, fn, options) =>
  register(
    `projector: ${name}`,
    async ({ page, open }) => {
      const place = dir();
      await open(place.dir ?? place, "#projector");
      await fn(page);
      equal(await axe(page), [], "accessibility");
    },
    options,
  );

test(
  "words of a TSV file without event files: neighbours equal brute force",
  logdir,
  async (page) => {
    const vectors = rowsOf(join(logdir(), "projector_words/vectors.tsv")).map(
      (row) => row.map(Number),
    );
    const labels = readFileSync(
      join(logdir(), "projector_words/labels.tsv"),
      "utf8",
    )
      .trim()
      .split("\n");
    await page.getByRole("button", { name: /, Vectors$/ }).click();
    await page
      .getByRole("option", { name: /^projector_words · words/ })
      .click();
    await ready(page, 10);
    await choose(page, labels[1]);
    await eventually(
      () =>
        page.locator("aside[aria-label=Inspector] header .clip").textContent(),
      labels[1],
      "the chosen word",
    );
    await compareNeighbours(page, vectors, 1, 9);
  },
);

test(
  "matrix of a checkpoint with sprite: images, metadata of a point",
  logdir,
  async (page) => {
    await page.getByRole("button", { name: /, Vectors$/ }).click();
    await page.getByRole("option", { name: /^projector_images/ }).click();
    await ready(page, 200);
    await page.getByRole("radio", { name: "Images", exact: true }).click();
    await eventually(
      () => stateOf(page).look,
      "images",
      "the view is in the address",
    );
    const rows = rowsOf(join(logdir(), "projector_images/metadata.tsv"));
    await choose(page, rows[8][1]);
    await passes(async () => {
      const row = Number(
        await page
          .locator("aside[aria-label=Inspector] dl dd")
          .first()
          .textContent(),
      );
      equal(
        await page
          .locator("aside[aria-label=Inspector] dl dd")
          .nth(2)
          .textContent(),
        rows[row + 1][1],
        "label",
      );
    });
    await page
      .locator("aside[aria-label=Inspector] .entry canvas")
      .first()
      .waitFor();
  },
);

test(
  "PCA holds the variance that the covariance says",
  clusters,
  async (page) => {
    const { vectors } = clusters();
    await ready(page, 120);
    const n = vectors.length;
    const mean = vectors[0].map(
      (_, d) => vectors.reduce((s, v) => s + v[d], 0) / n,
    );
    const cov = mean.map((_, a) =>
      mean.map(
        (__, b) =>
          vectors.reduce((s, v) => s + (v[a] - mean[a]) * (v[b] - mean[b]), 0) /
          n,
      ),
    );
    // Power iteration with deflation: the three largest eigenvalues.
    const trace = cov.reduce((s, r, i) => s + r[i], 0);
    let sum = 0;
    for (let k = 0; k < 3; k++) {
      let v = cov.map((_, i) => 1 + i * 0.1 + k);
      for (let step = 0; step < 5000; step++) {
        const w = cov.map((r) => dot(r, v));
        const length = Math.hypot(...w);
        v = w.map((x) => x / length);
      }
      const value = dot(
        v,
        cov.map((r) => dot(r, v)),
      );
      sum += value;
      for (let a = 0; a < 8; a++)
        for (let b = 0; b < 8; b++) cov[a][b] -= value * v[a] * v[b];
    }
    await passes(async () =>
      close(
        Number(
          await page.locator("[data-variance]").getAttribute("data-variance"),
        ),
        sum / trace,
        1e-4,
        "share of the variance",
      ),
    );
  },
);

test(
  "t-SNE runs live, keeps clusters together, is stopped; UMAP follows",
  clusters,
  async (page) => {
    await ready(page, 120);
    await page.getByRole("radio", { name: "t-SNE", exact: true }).click();
    await page.locator("[data-state=done]").waitFor({ timeout: 60000 });
    await page.getByText(/From exact neighbours/).waitFor();
    await page.getByRole("radio", { name: "UMAP", exact: true }).click();
    await page.getByText(/iteration 500\/500/).waitFor({ timeout: 60000 });
    await page.getByRole("radio", { name: "t-SNE", exact: true }).click();
    await page.getByRole("textbox", { name: "Iterations" }).fill("90000");
    await page.getByRole("textbox", { name: "Iterations" }).press("Enter");
    await page.getByText(/Running · iteration/).waitFor({ timeout: 60000 });
    await page.getByRole("button", { name: "Pause" }).click();
    await page.locator("[data-state=paused]").waitFor();
    await page.getByRole("button", { name: "Resume" }).click();
    await page.getByRole("button", { name: "Perturb" }).click();
    await page.getByRole("button", { name: "Stop" }).click();
    await page.locator("[data-state=cancelled]").waitFor();
    await page.getByRole("button", { name: "Run again" }).waitFor();
  },
);

test(
  "search by text and expression, isolate, show all, clear",
  clusters,
  async (page) => {
    await ready(page, 120);
    const search = page.getByRole("textbox", { name: "Search points" });
    await search.fill("green");
    await page.getByText("40 selected", { exact: true }).first().waitFor();
    await page
      .getByRole("button", { name: "Regular expression" })
      .or(page.getByRole("button", { name: ".*", exact: true }))
      .first()
      .click();
    await search.fill("^item (1|2)$");
    await page.getByText("2 selected", { exact: true }).first().waitFor();
    await search.fill("(");
    await page.getByText("Not a valid regular expression.").waitFor();
    await search.fill("^(red)$");
    await page.getByRole("button", { name: "Isolate 40" }).click();
    await ready(page, 40);
    await page.getByRole("button", { name: "Show all" }).click();
    await ready(page, 120);
  },
);

test(
  "colour by column with its legend; a value of the legend chooses its points",
  clusters,
  async (page) => {
    await ready(page, 120);
    const legend = page.getByRole("group", { name: "Colours by class" });
    await eventually(
      async () =>
        (await legend.locator("button").allTextContents())
          .map((s) => s.trim())
          .sort(),
      ["blue40", "green40", "red40"],
      "legend",
    );
    await legend.getByRole("button", { name: /green/ }).click();
    await page.getByText("40 selected", { exact: true }).first().waitFor();
    await page.getByRole("button", { name: /, Colour by$/ }).click();
    await page.getByRole("option", { name: /^size/ }).click();
    const ends = page
      .getByRole("group", { name: "Colours by size" })
      .locator(".ends span");
    await eventually(
      async () =>
        (await ends.allTextContents()).map((text) =>
          Number(text.replaceAll("\u202f", "")),
        ),
      [0, 29.75],
      "ends of the gradient",
    );
  },
);

test(
  "a rectangle chooses points; the pointer finds them; keys turn and zoom",
  clusters,
  async (page) => {
    await ready(page, 120);
    await page.getByRole("button", { name: "Reset the view" }).click();
    await page.getByRole("button", { name: "Select by rectangle" }).click();
    const box = await page.locator("[data-points]").boundingBox();
    await page.mouse.move(box.x + 4, box.y + 4);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width - 4, box.y + box.height - 40, {
      steps: 4,
    });
    await page.mouse.up();
    await page.getByText("120 selected", { exact: true }).first().waitFor();
    await page.getByRole("button", { name: "Clear", exact: true }).click();
    await eventually(() => stateOf(page).picked ?? [], [], "nothing is chosen");
    const before = stateOf(page).camera ?? [];
    await page.getByRole("application").focus();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("+");
    await eventually(
      () => {
        const now = stateOf(page).camera ?? [];
        return now.length > 2 && now[0] !== before[0] && now[2] !== before[2];
      },
      true,
      "turned and nearer",
    );
  },
);

test("a link restores the view", clusters, async (page) => {
  await ready(page, 120);
  await page.getByRole("radio", { name: "UMAP", exact: true }).click();
  await page.getByRole("radio", { name: "2-D", exact: true }).click();
  await page.getByRole("radio", { name: "Labels", exact: true }).click();
  await choose(page, "item 17");
  await page
    .getByRole("button", { name: "Centre on the selected points" })
    .click();
  await eventually(
    () => {
      const { method, dims, look, point, camera } = stateOf(page);
      return [method, dims, look, point, camera?.length > 0];
    },
    ["umap", 2, "labels", 17, true],
    "the address",
  );
  await page.reload();
  await ready(page, 120);
  await eventually(
    () =>
      page.locator("aside[aria-label=Inspector] header .clip").textContent(),
    "item 17",
    "the chosen point",
  );
  for (const name of ["UMAP", "2-D", "Labels"])
    await eventually(
      () =>
        page
          .getByRole("radio", { name, exact: true })
          .getAttribute("aria-checked"),
      "true",
      name,
    );
  await page.locator("aside[aria-label=Inspector] .entry").first().waitFor();
});

test(
  "custom axes: matches are counted, the picture is flat",
  clusters,
  async (page) => {
    await ready(page, 120);
    await page.getByRole("radio", { name: "Custom", exact: true }).click();
    await page
      .getByRole("button", { name: /, Search in$/ })
      .first()
      .click();
    await page.getByRole("option", { name: "class", exact: true }).click();
    await page.getByRole("textbox", { name: "Left" }).fill("red");
    await page.getByRole("textbox", { name: "Right" }).fill("e");
    await page.waitForFunction(
      () =>
        [...document.querySelectorAll(".field")]
          .filter((f) =>
            ["Left", "Right"].includes(
              f.querySelector("input")?.getAttribute("aria-label") ?? "",
            ),
          )
          .map((f) => f.textContent.trim())
          .join() === "40,120",
    );
  },
);

test(
  "a dropped TSV is shown; a wrong one is refused in words",
  clusters,
  async (page) => {
    await ready(page, 120);
    await page
      .locator("input[type=file][multiple]")
      .setInputFiles({
        name: "mine.tsv",
        mimeType: "text/plain",
        buffer: Buffer.from("a\t1\t2\nb\t3\t4\nc\t5\t9\n"),
      });
    await ready(page, 3);
    await choose(page, "b");
    await page.getByRole("button", { name: "Clear", exact: true }).click();
    await page.evaluate(() => {
      const data = new DataTransfer();
      data.items.add(new File(["1\t2\n3\n"], "bad.tsv"));
      document
        .querySelector(".whole")
        .dispatchEvent(
          new DragEvent("drop", {
            dataTransfer: data,
            bubbles: true,
            cancelable: true,
          }),
        );
    });
    await page
      .getByText(/bad.tsv was not loaded: Row 2 has 1 numbers/)
      .waitFor();
  },
  { console: false },
); // the refusal is an answer of 400

test(
  "labels are edited and downloaded; bookmarks survive a file",
  clusters,
  async (page) => {
    await ready(page, 120);
    await page.getByRole("textbox", { name: "Search points" }).fill("item 7");
    await page.getByText("11 selected", { exact: true }).first().waitFor();
    await page.getByRole("button", { name: /, Column$/ }).click();
    await page.getByRole("option", { name: /^class/ }).click();
    await page
      .getByRole("combobox", { name: "Tag selection as" })
      .or(page.getByRole("textbox", { name: "Tag selection as" }))
      .first()
      .fill("seven");
    await page.getByRole("button", { name: "Tag 11" }).click();
    await page
      .getByRole("button", { name: "Files", exact: true })
      .first()
      .click();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("menuitem", { name: "Download metadata" }).click(),
    ]);
    const lines = readFileSync(await download.path(), "utf8")
      .trim()
      .split("\n");
    equal(
      [lines[0], lines[8], lines.length],
      ["name\tclass\tsize", "item 7\tseven\t1.75", 121],
      "downloaded",
    );
    await page.getByRole("button", { name: "Clear", exact: true }).click();
    await page.getByRole("button", { name: "Add", exact: true }).click();
    const [saved] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Save file" }).click(),
    ]);
    const content = JSON.parse(readFileSync(await saved.path(), "utf8"));
    equal(
      [
        content[0].selectedProjection,
        content[0].dataSetDimensions,
        content[0].projections.length,
      ],
      ["pca", [120, 8], 120],
      "bookmark",
    );
    await page.getByRole("button", { name: "Remove the bookmark" }).click();
    await page
      .locator('input[type=file][aria-label="Load file"]')
      .setInputFiles(await saved.path());
    await page.getByRole("textbox", { name: "Name of the bookmark" }).waitFor();
    await page
      .locator('input[type=file][aria-label="Load file"]')
      .setInputFiles({
        name: "other.txt",
        mimeType: "text/plain",
        buffer: Buffer.from('[{"dataSetDimensions":[5,5]}]'),
      });
    await page.getByText(/These bookmarks are for vectors of 5 × 5/).waitFor();
  },
  { dark: true },
);

register(
  "projector: 60 000 points are drawn and found",
  async ({ page, open }) => {
    const dir = temporary();
    const values = new Float32Array(60000 * 4);
    let seed = 3;
    for (let i = 0; i < values.length; i++)
      values[i] =
        (seed = (seed * 1103515245 + 12345) % 2147483648) / 2147483648 +
        (Math.floor(i / 4) % 5 === i % 4 ? 2 : 0);
    writeFileSync(join(dir, "v.bytes"), Buffer.from(values.buffer));
    writeFileSync(
      join(dir, "m.tsv"),
      Array.from({ length: 60000 }, (_, i) => `p${i}`).join("\n") + "\n",
    );
    writeFileSync(
      join(dir, "projector_config.pbtxt"),
      'embeddings { tensor_name: "many" tensor_path: "v.bytes" tensor_shape: 60000 tensor_shape: 4 metadata_path: "m.tsv" }',
    );
    await open(dir, "#projector");
    await ready(page, 60000);
    await page.getByRole("textbox", { name: "Search points" }).fill("p5999");
    await page.getByText("11 selected", { exact: true }).first().waitFor();
    const frames = await page.evaluate(async () => {
      const canvas = document.querySelector("[data-points]");
      const box = canvas.getBoundingClientRect();
      const start = performance.now();
      let n = 0;
      while (n < 10 && performance.now() - start < 60000) {
        canvas.dispatchEvent(
          new WheelEvent("wheel", {
            deltaY: n % 2 ? 20 : -20,
            clientX: box.x + 50,
            clientY: box.y + 50,
            bubbles: true,
            cancelable: true,
          }),
        );
        await new Promise((done) => requestAnimationFrame(done));
        n++;
      }
      return n;
    });
    check(frames === 10, `only ${frames} pictures in a minute`);
    await page.getByRole("radio", { name: "t-SNE", exact: true }).click();
    await page.getByRole("button", { name: "Run", exact: true }).waitFor(); // a large set waits for the user
  },
);
