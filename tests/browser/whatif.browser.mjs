// What-If used as a person would: examples on the scatter, the editor, thresholds, worst slices, strategies, features.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import http from "node:http";
import { join } from "node:path";
import {
  axe,
  check,
  close,
  equal,
  eventually,
  passes,
  settled,
  temporary,
  test as register,
} from "./harness.mjs";

let seed = 11;
const random = () =>
  (seed = (seed * 1103515245 + 12345) % 2147483648) / 2147483648;

/** 600 loans; the model is wrong about families in the south. */
let made;
function loans() {
  if (made !== undefined) return made;
  const dir = temporary();
  const rows = [];
  for (let i = 0; i < 600; i++) {
    const city = ["north", "south", "east"][Math.floor(random() * 3)];
    const plan = ["basic", "family"][Math.floor(random() * 2)];
    const age = 20 + Math.floor(random() * 50);
    const label = Math.round(random());
    const fails = city === "south" && plan === "family";
    const right = fails ? random() < 0.15 : random() < 0.95;
    const score =
      Math.round(
        (right === (label === 1)
          ? 0.55 + random() * 0.4
          : 0.05 + random() * 0.4) * 100,
      ) / 100;
    rows.push({ city, plan, age, label, score });
  }
  const names = Object.keys(rows[0]);
  writeFileSync(
    join(dir, "loans.csv"),
    [
      names.join(","),
      ...rows.map((r) => names.map((n) => r[n]).join(",")),
    ].join("\n"),
  );
  writeFileSync(
    join(dir, "whatif.json"),
    JSON.stringify({
      name: "loans",
      data: "loans.csv",
      label: "label",
      models: [{ name: "bank", columns: ["score"] }],
    }),
  );
  made = { dir, rows };
  return made;
}
const test = (name, fn) =>
  register(`what-if: ${name}`, async ({ page, open }) => {
    const { dir, rows } = loans();
    await open(dir, "#whatif");
    await page.locator('[data-points="600"]').waitFor();
    await fn(page, rows);
    equal(await axe(page), [], "accessibility");
  });
const pageOf = (page, name) =>
  page.getByRole("radio", { name, exact: true }).click();

test("an example is picked on the scatter, edited, compared with its counterfactual, restored by its link", async (page, rows) => {
  const box = await page.locator("[data-points] canvas").first().boundingBox();
  let hovered = -1;
  // Again and again: the points may not have been laid out yet.
  await passes(async () => {
    for (let dx = 0; dx < 300 && hovered < 0; dx += 3) {
      await page.mouse.move(
        box.x + box.width / 2 + dx,
        box.y + box.height * 0.7,
      );
      hovered = Number(
        await page.locator("[data-hover]").getAttribute("data-hover"),
      );
    }
    check(hovered >= 0, "no point was found under the pointer");
  });
  // What was under the pointer a frame ago may not be there now.
  await settled(page);
  hovered = Number(
    await page.locator("[data-hover]").getAttribute("data-hover"),
  );
  await page.mouse.down();
  await page.mouse.up();
  await eventually(
    () => page.getByRole("textbox", { name: "Row", exact: true }).inputValue(),
    String(hovered),
  );
  const values = page.getByRole("table", { name: "Feature values" });
  await eventually(
    () => values.getByRole("textbox", { name: "age" }).inputValue(),
    String(rows[hovered].age),
  );
  await page
    .getByRole("button", { name: "Compare with counterfactual" })
    .click();
  const other = Number(
    await page
      .locator("[data-counterfactual]")
      .getAttribute("data-counterfactual"),
  );
  check(
    rows[other].score >= 0.5 !== rows[hovered].score >= 0.5,
    "the counterfactual has the same prediction",
  );
  await values.getByRole("textbox", { name: "age" }).fill("33");
  await values.getByRole("textbox", { name: "age" }).press("Tab");
  await page.getByRole("button", { name: "Revert age" }).waitFor();
  const kept = () =>
    JSON.parse(
      Buffer.from(
        /&v=1\.([\w-]+)/.exec(page.url())?.[1] ?? "e30",
        "base64url",
      ).toString(),
    ).whatif?.edits?.[hovered]?.age;
  await eventually(kept, 33);
  await page.reload();
  await eventually(
    () => values.getByRole("textbox", { name: "age" }).inputValue(),
    "33",
  );
});

test("the slice that is failed on purpose is the first of the worst; slicing by it shows its accuracy", async (page, rows) => {
  await pageOf(page, "Performance & fairness");
  await page.getByRole("button", { name: "Find worst slices" }).click();
  const worst = page.getByRole("region", { name: "Worst slices" });
  await eventually(
    () => worst.locator("tbody tr").first().locator("td").first().textContent(),
    "city = south, plan = family",
  );
  await worst.getByRole("button", { name: "Slice by these" }).first().click();
  const line = page
    .getByRole("region", { name: "Slices", exact: true })
    .locator("tr", { hasText: "south, family" });
  const mine = rows.filter((r) => r.city === "south" && r.plan === "family");
  const right = mine.filter((r) => r.score >= 0.5 === (r.label === 1)).length;
  await passes(async () => {
    const cells = await line.locator("td").allTextContents();
    equal(Number(cells[1].replace(/\D/g, "")), mine.length, "count");
    close(parseFloat(cells[5]), (100 * right) / mine.length, 0.06, "accuracy");
  });
  const strategies = page.getByRole("region", { name: "Threshold strategies" });
  await eventually(() => strategies.locator("tbody tr").count(), 7); // custom and six
  await strategies
    .locator("tr", { hasText: "Equal opportunity" })
    .getByRole("button")
    .click();
  await eventually(
    () => strategies.getByRole("button", { pressed: true }).textContent(),
    "In use",
  );
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Report" }).click(),
  ]);
  const report = readFileSync(await download.path(), "utf8");
  check(
    report.includes("| city = south, plan = family |") &&
      report.includes("| Equalised odds |"),
    report,
  );
});

test("features: every column with its figures", async (page, rows) => {
  await pageOf(page, "Features");
  const table = page.getByRole("table", { name: "Features" });
  await eventually(() => table.getAttribute("data-features"), "5");
  const ages = rows.map((r) => r.age);
  const cells = await table
    .locator("tr", { hasText: "age" })
    .locator("td")
    .allTextContents();
  close(
    Number(cells[3]),
    ages.reduce((a, b) => a + b) / ages.length,
    0.06,
    "mean",
  );
});

register(
  "what-if: a live model is asked only after a click, then predicts edits and dependence",
  async ({ page, open }) => {
    let asked = 0;
    const server = http.createServer((request, answer) => {
      let body = "";
      request.on("data", (part) => (body += part));
      request.on("end", () => {
        asked++;
        answer.end(
          JSON.stringify({
            predictions: JSON.parse(body).instances.map((one) => one.x / 10),
          }),
        );
      });
    });
    await new Promise((done) => server.listen(0, "127.0.0.1", done));
    const dir = temporary();
    mkdirSync(join(dir, "set"));
    writeFileSync(
      join(dir, "set/d.csv"),
      "x,z,y\n" +
        Array.from(
          { length: 50 },
          (_, i) => `${i % 10},${i % 3},${Number(i % 10 > 4)}`,
        ).join("\n"),
    );
    writeFileSync(
      join(dir, "set/whatif.json"),
      JSON.stringify({
        name: "live",
        data: "d.csv",
        label: "y",
        models: [
          {
            name: "m",
            url: `http://127.0.0.1:${server.address().port}/v1/models/m:predict`,
          },
        ],
      }),
    );
    try {
      await open(dir, "#whatif");
      await page.locator('[data-points="50"]').waitFor();
      equal(asked, 0, "asked before the click");
      await page.getByRole("button", { name: "Allow" }).click();
      await page.getByRole("button", { name: "Predict all" }).click();
      await page.getByRole("textbox", { name: "Row", exact: true }).fill("3");
      await page
        .getByRole("textbox", { name: "Row", exact: true })
        .press("Enter");
      const values = page.getByRole("table", { name: "Feature values" });
      await values.getByRole("textbox", { name: "x" }).fill("9");
      await values.getByRole("textbox", { name: "x" }).press("Tab");
      await page.getByRole("button", { name: "Predict", exact: true }).click();
      const said = page.getByRole("table", { name: "Predictions" });
      await eventually(
        async () =>
          (
            await said.locator("tr", { hasText: "Run 1" }).textContent()
          )?.includes("0.9"),
        true,
      );
      await page
        .getByRole("region", { name: "Partial dependence" })
        .getByRole("button", { name: "Compute" })
        .click();
      await page.getByText("moves the prediction by 0.9").waitFor();
      await page.getByRole("button", { name: "Show heat map" }).click();
      await page.locator('[data-pair="30"]').waitFor();
      await page.getByRole("textbox", { name: "Formula" }).fill("x + 1");
      await page.getByRole("button", { name: "Apply", exact: true }).click();
      await eventually(
        () => values.getByRole("textbox", { name: "x" }).inputValue(),
        "10",
      );
      await page.keyboard.press("Escape");
      await page.locator("[data-points] canvas").first().focus();
      await page.keyboard.press("Control+z");
      await eventually(
        () => values.getByRole("textbox", { name: "x" }).inputValue(),
        "9",
      );
      equal(await axe(page), [], "accessibility");
    } finally {
      server.close();
    }
  },
);
