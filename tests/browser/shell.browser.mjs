// What stands around the data: reload, paging, empty cards, alerts, one run table for all tabs, restarts, and
// pictures of every type that follow the step and the log.
import { append, writeRun } from "./events.mjs";
import {
  check,
  corpus,
  equal,
  eventually,
  numberOf,
  passes,
  temporary,
  test,
} from "./harness.mjs";
import {
  card,
  choose,
  exported,
  logdir,
  plot,
  ready,
  tableRows,
} from "./known.mjs";

const titles = (page) =>
  page
    .locator("[data-card]")
    .evaluateAll((cards) => cards.map((one) => one.dataset.card));

let many;
/** Fifteen tags in one section, one run. */
function manyTags() {
  if (many !== undefined) return many;
  many = temporary();
  const points = Array.from({ length: 5 }, (_, i) => [
    i,
    Object.fromEntries(
      Array.from({ length: 15 }, (_, k) => [
        `many/t${String(k).padStart(2, "0")}`,
        i + k,
      ]),
    ),
  ]);
  writeRun(many, "run", points);
  return many;
}

test("the feature flags of TensorBoard in an address change nothing", async ({
  page,
  open,
}) => {
  await open(logdir(), "#timeseries");
  await ready(page);
  const plain = await titles(page); // the chart that is ready is the last
  await open(
    logdir(),
    "?darkMode=true&forceSVG&scalarsBatchSize=10&experimentalPlugin=x,y&enableGlobalPins=false&showFlags=#timeseries",
  );
  await ready(page);
  await eventually(() => titles(page), plain, "cards");
});

test("the page is complete at once with the answers that came with it", async ({
  page,
  open,
}) => {
  const asked = [];
  page.on("request", (request) =>
    asked.push(new URL(request.url()).pathname.replace(/^.*\/api\/v1\//, "")),
  );
  await open(logdir());
  await ready(page);
  for (const path of ["info", "runs", "tags", "sidecar"])
    check(
      !asked.includes(path),
      `${path} was asked for although it came with the page`,
    );
});

test("reload asks for everything again, also while updates are paused", async ({
  page,
  open,
}) => {
  const logs = temporary();
  const file = writeRun(logs, "run", [
    [0, { loss: 3 }],
    [5, { loss: 2 }],
  ]);
  await open(logs);
  await ready(page, "loss");
  await page.getByRole("button", { name: /^Live/ }).click();
  await page.getByRole("button", { name: /^Paused/ }).waitFor();
  append(file, 1.7e9 + 9, 9, { loss: 1 });
  await page.getByRole("button", { name: /^Paused · / }).waitFor();
  check(
    (await plot(page, "loss").getAttribute("aria-label")).includes("0 to 5"),
    "a paused chart has grown",
  );
  await page.getByRole("button", { name: "Reload now" }).click();
  await eventually(
    async () =>
      (await plot(page, "loss").getAttribute("aria-label")).includes("0 to 9"),
    true,
    "the new point",
  );
});

test("paging: so many cards of a section, the rest on demand, the number is kept", async ({
  page,
  open,
}) => {
  await open(manyTags());
  await ready(page, "many/t00");
  const field = page.getByRole("textbox", { name: /^Charts of a section/ });
  await field.fill("4");
  await field.press("Enter");
  await eventually(
    async () => (await titles(page)).length,
    4,
    "cards of a section",
  );
  await page.getByRole("button", { name: "Show 4 more of 15" }).click();
  await eventually(
    async () => (await titles(page)).length,
    8,
    'cards after "show more"',
  );
  await page.reload();
  await ready(page, "many/t00");
  await page.getByRole("button", { name: "Show 4 more of 15" }).waitFor();
  await eventually(
    async () => (await titles(page)).length,
    4,
    "cards after a reload of the page",
  );
});

test(
  "cards: data are asked for near the view and once; a wider card leaves fewer a row",
  async ({ page, open }) => {
    const asked = [];
    page.on(
      "request",
      (request) =>
        /\/columns$/.test(request.url()) &&
        asked.push(
          ...JSON.parse(request.postData()).series.map((one) => one.tag),
        ),
    );
    await open(manyTags());
    await ready(page, "many/t00");
    check(!asked.includes("many/t11"), "a card far below the view has asked");
    equal(asked.length, new Set(asked).size, "questions for one tag");
    await card(page, "many/t11").scrollIntoViewIfNeeded();
    await ready(page, "many/t11");
    equal(
      asked.length,
      new Set(asked).size,
      "questions for one tag after scrolling",
    );
    await passes(async () => {
      const [one, two] = await Promise.all(
        ["many/t00", "many/t01"].map((tag) => card(page, tag).boundingBox()),
      );
      equal(one.y, two.y, "two cards in the first row");
    });
  },
  { viewport: { width: 1440, height: 500 } },
);

test("cards without a shown run are hidden, or say who has them", async ({
  page,
  open,
}) => {
  const logs = temporary();
  writeRun(logs, "a", [
    [0, { both: 1, only_a: 1 }],
    [1, { both: 2, only_a: 2 }],
  ]);
  writeRun(logs, "b", [
    [0, { both: 1, only_b: 1 }],
    [1, { both: 2, only_b: 2 }],
  ]);
  await open(logs);
  await ready(page, "both");
  await eventually(
    async () => (await titles(page)).toSorted(),
    ["both", "only_a", "only_b"],
    "all cards",
  );
  await page.getByRole("checkbox", { name: "Show a", exact: true }).click();
  await eventually(
    async () => (await titles(page)).toSorted(),
    ["both", "only_a", "only_b"],
    "hiding a run moves no card",
  );
  const hide = page.getByRole("switch", {
    name: "Hide empty charts",
    exact: true,
  });
  await hide.click();
  await eventually(
    async () => (await titles(page)).toSorted(),
    ["both", "only_b"],
    "cards of b",
  );
  await hide.click();
  await card(page, "only_a").getByText("No selected run has only_a").waitFor();
  await card(page, "only_a").getByText("1 other run has it.").waitFor();
  await card(page, "only_a")
    .getByRole("button", { name: "Show all runs" })
    .click();
  await ready(page, "only_a");
});

test("the run table has columns for what most runs have", async ({
  page,
  open,
}) => {
  const logs = temporary();
  for (const name of ["a", "b", "c"])
    writeRun(logs, name, [
      [0, { "train/loss": 1 }],
      [1, { "train/loss": 2 }],
    ]);
  writeRun(logs, "d", [
    [0, { "train/loss": 1, "val/loss": 1 }],
    [1, { "train/loss": 2, "val/loss": 2 }],
  ]);
  await open(logs);
  await ready(page, "train/loss");
  const heads = page.locator("[role=treegrid] [role=columnheader] button");
  await eventually(
    async () => heads.evaluateAll((all) => all.map((one) => one.title)),
    ["", "train/loss, last"],
    "columns",
  );
});

test(
  "alerts: a toast goes by itself, a lost server is named and found again",
  async ({ page, open }) => {
    await open(logdir());
    await ready(page);
    await page.keyboard.press("p");
    await page.getByText("Live updates are paused").first().waitFor();
    await page.locator(".toast").waitFor({ state: "detached" });
    await page.keyboard.press("p");
    await page.route("**/api/v1/**", (route) => route.abort());
    await page.getByRole("button", { name: "Reload now" }).click();
    const note = page
      .getByRole("alert")
      .filter({ hasText: "Server not reachable." });
    await note.waitFor();
    await plot(page, "train/loss").waitFor(); // what is shown stays
    await page.unroute("**/api/v1/**");
    await page.getByRole("button", { name: "Reload now" }).click();
    await note.waitFor({ state: "detached" });
    await page.getByRole("button", { name: /^Live/ }).waitFor();
  },
  { console: false },
);

test("one run table for all tabs: what is hidden or filtered in one is so in the others", async ({
  page,
  open,
}) => {
  await open(corpus("keras_fit"), "#timeseries");
  await page.locator("#app [data-chart=ready]").first().waitFor();
  await eventually(
    async () => (await tableRows(page)).map((row) => row[0]),
    ["train", "validation"],
    "runs",
  );
  await page.getByRole("checkbox", { name: "Show train", exact: true }).click();
  for (const tab of ["Histograms", "Distributions", "Time series"]) {
    await page.getByRole("link", { name: tab, exact: true }).click();
    await page
      .getByRole("heading", { name: tab, exact: true, level: 1 })
      .waitFor({ state: "attached" });
    const box = page.getByRole("checkbox", { name: "Show train", exact: true });
    await eventually(() => box.isChecked(), false, `train in ${tab}`);
  }
  await page.getByRole("textbox", { name: /Filter runs/ }).fill("valid");
  await page.getByRole("link", { name: "Histograms", exact: true }).click();
  await eventually(
    async () => (await tableRows(page)).map((row) => row[0]),
    ["validation"],
    "the filter in the other tab",
  );
});

test("a description is shown as safe markdown", async ({ page, open }) => {
  const logs = temporary();
  writeRun(logs, "run", [
    [
      0,
      {
        loss: {
          value: 1,
          description: "Mean **cross entropy** <script>alert(1)</script>",
        },
      },
    ],
    [1, { loss: 2 }],
  ]);
  await open(logs);
  await ready(page, "loss");
  await card(page, "loss").hover();
  await card(page, "loss").getByRole("button", { name: "Description" }).click();
  await page.locator(".md strong", { hasText: "cross entropy" }).waitFor();
  equal(await page.locator(".md script").count(), 0, "scripts");
});

test("restarts: the newest points win, or the superseded part is drawn dashed", async ({
  page,
  open,
}) => {
  const logs = temporary();
  const part = (from, to, shift) =>
    Array.from({ length: to - from }, (_, i) => [
      from + i,
      { loss: 10 - (from + i) / 10 + shift },
    ]);
  writeRun(logs, "run", [...part(0, 50, 0), ...part(30, 80, 5)]);
  await open(logs);
  await ready(page, "loss");
  check(
    !(await exported(page, "loss", "SVG")).includes('stroke-dasharray="2 3"'),
    "a superseded part is drawn",
  );
  await choose(page, "Repeated steps", "Keep all");
  await eventually(
    async () =>
      /stroke-dasharray="2[ ,]3"/.test(await exported(page, "loss", "SVG")),
    true,
    "a dashed part",
  );
});

test(
  "loading: cards stand before their data; one that fails leaves the others alone",
  async ({ page, open }) => {
    let release;
    const held = new Promise((resolve) => (release = resolve));
    await page.route("**/api/v1/columns", async (route) => {
      await held;
      if (route.request().postData().includes("train/epoch"))
        await route.fulfill({
          status: 500,
          contentType: "application/json",
          body: '{"error":{"code":"internal","text":"The disk is gone."}}',
        });
      else await route.continue();
    });
    await open(logdir());
    await card(page, "train/epoch").waitFor();
    await card(page, "train/loss").waitFor();
    await plot(page, "eval/acc").waitFor();
    equal(
      await page.locator("#app [data-chart=ready]").count(),
      1,
      "the chart that came with the page",
    );
    equal(await plot(page, "train/loss").count(), 0, "a chart before its data");
    release();
    await plot(page, "train/loss").waitFor();
    await card(page, "train/epoch").getByText("The disk is gone.").waitFor();
  },
  { console: false },
);

const PICTURES = {
  png: Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "base64",
  ),
  gif: Buffer.from(
    "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7",
    "base64",
  ),
  webp: Buffer.from(
    "UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA",
    "base64",
  ),
  bmp: Buffer.concat([
    Buffer.from(
      "424d3a0000000000000036000000280000000100000001000000010018000000000004000000",
      "hex",
    ),
    Buffer.alloc(16),
    Buffer.from("0000ff00", "hex"),
  ]),
  svg: Buffer.from(
    '<svg xmlns="http://www.w3.org/2000/svg" width="4" height="4"><rect width="4" height="4" fill="red"/></svg>',
  ),
};

test("images: every type that a browser knows is shown as what it is", async ({
  page,
  open,
}) => {
  const logs = temporary();
  writeRun(logs, "run", [
    [
      0,
      Object.fromEntries(
        Object.entries(PICTURES).map(([type, picture]) => [
          `as_${type}`,
          { picture },
        ]),
      ),
    ],
  ]);
  await open(logs, "#images");
  const types = {
    png: "image/png",
    gif: "image/gif",
    webp: "image/webp",
    bmp: "image/bmp",
    svg: "image/svg+xml",
  };
  for (const [name, type] of Object.entries(types)) {
    const picture = page
      .getByRole("img", { name: new RegExp(`^as_${name} of`) })
      .first();
    await picture.waitFor();
    await eventually(
      () =>
        picture.evaluate(
          (node) =>
            node instanceof HTMLCanvasElement ||
            (node.complete && node.naturalWidth > 0),
        ),
      true,
      `${name} is decoded`,
    );
    const source = await picture.getAttribute("src");
    if (source !== null)
      equal(
        await page.evaluate(
          async (url) =>
            (await fetch(url)).headers.get("content-type").split(";")[0],
          source,
        ),
        type,
        name,
      );
  }
});

test("images: at the end they follow the log, elsewhere they stay; a linked step shows the nearest", async ({
  page,
  open,
}) => {
  const logs = temporary();
  const picture = PICTURES.png;
  const file = writeRun(
    logs,
    "run",
    [0, 50, 100]
      .map((step) => [step, { seen: { picture }, loss: step }])
      .concat([[120, { loss: 1 }]]),
  );
  await open(logs, "#images");
  const slider = page
    .getByRole("slider", { name: "Step", exact: true })
    .first();
  const place = () => slider.getAttribute("aria-valuetext");
  await eventually(place, "step 100, 3 of 3", "the end");
  append(file, 1.7e9 + 150, 150, { seen: { picture } });
  await eventually(place, "step 150, 4 of 4", "the new end");
  await slider.press("Home");
  await eventually(place, "step 0, 1 of 4", "the beginning");
  append(file, 1.7e9 + 230, 230, { loss: 1 }); // before the picture: a page that shows the picture knows this step too
  append(file, 1.7e9 + 240, 240, { seen: { picture } });
  await eventually(place, "step 0, 1 of 5", "it stays");
  await page.getByRole("link", { name: "Time series", exact: true }).click();
  await ready(page, "loss");
  await eventually(
    async () =>
      (await plot(page, "loss").getAttribute("aria-label")).includes("to 230"),
    true,
    "the last point",
  );
  await page
    .getByRole("switch", { name: "Select a step", exact: true })
    .click();
  await eventually(
    async () =>
      numberOf(
        (
          await page
            .locator(".chip")
            .filter({ hasText: /^Step/ })
            .first()
            .textContent()
        ).replace(/\D/g, ""),
      ),
    230,
    "the linked step",
  );
  await page.getByRole("link", { name: "Images", exact: true }).click();
  const said = page.locator(".warn", { hasText: "step 240" });
  await said.first().waitFor();
  await eventually(
    () => said.first().getAttribute("title"),
    "This run has no image at step 230; the nearest is shown.",
    "why",
  );
});
