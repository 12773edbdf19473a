// The SQL page and queries in the trace viewer, over the repository's own capture of an input-bound pipeline.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { api, hash, q, region, stateOf } from "./captures.mjs";
import {
  axe,
  equal,
  eventually,
  ROOT,
  settled,
  temporary,
  test,
} from "./harness.mjs";

const SESSION = "train/bound";
let own;
function logdir() {
  if (own !== undefined) return own;
  own = temporary();
  const folder = join(own, "train/plugins/profile/bound");
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, "vm.xplane.pb"),
    gunzipSync(
      readFileSync(
        join(ROOT, "tests/data/profile/tf_loop_input_bound.xplane.pb.gz"),
      ),
    ),
  );
  return own;
}
const ask = (sql) =>
  api(logdir(), `trace/sql?session=${q(SESSION)}&host=0`, { sql });
const SLOWEST =
  "select id, ts, dur, name, track from slices order by dur desc limit 20";

test(
  "sql: the editor runs a query, shows its rows and keeps it",
  async ({ page, open }) => {
    await open(logdir(), hash({ session: SESSION, tool: "sql", sql: SLOWEST }));
    const wanted = (await ask(SLOWEST)).table;
    const rows = page.locator("[data-table=result] tbody tr:not(.pad)");
    await rows.first().waitFor();
    await eventually(
      () =>
        rows
          .first()
          .locator("td")
          .evaluateAll((cells) => cells.map((cell) => cell.title)),
      wanted.rows[0].map(String),
      "the first row",
    );
    equal(await axe(page), [], "accessibility");
    await page
      .getByRole("textbox", { name: "Query" })
      .fill("select nam from slices");
    await page.getByRole("textbox", { name: "Query" }).press("Control+Enter");
    await page
      .getByRole("alert")
      .getByText("line 1, column 8: no such column: nam")
      .waitFor();
    await page
      .getByRole("textbox", { name: "Query" })
      .fill("select count(*) as n from slices");
    await page.getByRole("textbox", { name: "Query" }).press("Control+Enter");
    await eventually(
      async () => rows.first().locator("td").first().getAttribute("title"),
      String((await ask("select count(*) as n from slices")).table.rows[0][0]),
      "the count",
    );
    await page.getByText("Last queries (2)").click();
    await page.getByRole("button", { name: SLOWEST }).click();
    await eventually(
      () => rows.count().then((n) => n >= 10),
      true,
      "the first query again",
    );
  },
  { console: false },
); // the refusal is an answer of 400

test("sql: every example and every table has an answer", async ({
  page,
  open,
}) => {
  await open(logdir(), hash({ session: SESSION, tool: "sql" }));
  const failures = async (buttons, n, what) => {
    await eventually(() => buttons.count(), n, what);
    for (let i = 0; i < n; i++) {
      await buttons.nth(i).click();
      await page.locator(".edit [role=status]").waitFor({ state: "detached" });
      equal(
        await page.locator(".edit [role=alert]").count(),
        0,
        await buttons.nth(i).innerText(),
      );
    }
  };
  await page.locator("[data-table=result]").waitFor();
  await failures(
    page.locator(".aids details").nth(0).locator(".link"),
    10,
    "examples",
  );
  await page.getByText("Tables and views").click();
  await failures(
    page.locator(".aids details").nth(1).locator(".link"),
    15,
    "tables and views",
  );
});

for (const dark of [false, true]) {
  test(
    `sql: a result becomes bars and tracks of the trace viewer, ${dark ? "dark" : "light"}`,
    async ({ page, open }) => {
      await open(
        logdir(),
        hash({ session: SESSION, tool: "sql", sql: SLOWEST }),
      );
      await page.locator("[data-table=result]").waitFor();
      await page.getByRole("radio", { name: "Bars" }).click();
      await page.locator(".chart canvas").waitFor();
      equal(await axe(page), [], "accessibility of the chart");
      await page.getByRole("button", { name: "Show as track" }).click();
      await page.locator(".stage[data-ready]").first().waitFor();
      await page.locator(".labels").getByText("Queries").waitFor();
      await settled(page);
      await eventually(
        () => {
          const { tool, extra } = stateOf(page);
          return [tool, extra?.length, extra?.[0].kind].join();
        },
        "trace_viewer,1,slices",
        "the link has the track",
      );
      // A click on the longest slice, in its lane's first row, chooses it: its details are the query's columns.
      await eventually(
        async () => (await stateOf(page)).t1 > 0,
        true,
        "the place is in the link",
      );
      const [, ts, dur] = (await ask(SLOWEST)).table.rows[0].map(Number);
      const { t0, t1 } = await stateOf(page);
      const lane = await page
        .locator(".labels .lane", { hasText: "select id, ts" })
        .boundingBox();
      const stage = await page.locator(".stage canvas").first().boundingBox();
      await page.mouse.click(
        stage.x + ((ts + dur / 2 - t0) / (t1 - t0)) * stage.width,
        lane.y + 8,
      );
      await page.locator(".drawer .args dt", { hasText: "track" }).waitFor();
      equal(await axe(page), [], "accessibility of the viewer");
    },
    { dark },
  );
}

test("sql: a colon in the search field runs a query, an argument becomes a track", async ({
  page,
  open,
}) => {
  await open(logdir(), hash({ session: SESSION, tool: "trace_viewer" }));
  await page.locator(".stage[data-ready]").first().waitFor();
  const field = page.getByLabel("Search slices");
  await field.fill(`:${SLOWEST}`);
  await field.press("Enter");
  const result = region(page, "Result").first();
  await result.locator("tbody tr").first().waitFor();
  await result.locator("tbody tr:not(.pad)").first().click();
  const [, ts, dur] = (await ask(SLOWEST)).table.rows[0].map(Number);
  await eventually(
    async () => {
      const state = await stateOf(page);
      return state.t0 <= ts && state.t1 >= ts + dur;
    },
    true,
    "the row is in view",
  );
  equal(await axe(page), [], "accessibility");
  await result.getByRole("button", { name: "Close the result" }).click();
  const found = (
    await ask(
      "select s.id from slices s join args a on a.slice = s.id where a.type = 'integer' limit 1",
    )
  ).table.rows[0][0];
  await open(
    logdir(),
    hash({ session: SESSION, tool: "trace_viewer", slice: found }),
  );
  await page.locator(".drawer .args button").first().click();
  await page.locator(".labels").getByText("Queries").waitFor();
  await eventually(
    async () => (await stateOf(page)).extra?.length,
    1,
    "one track, in the link",
  );
});
