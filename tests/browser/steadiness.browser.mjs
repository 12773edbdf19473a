// Nothing moves that an action does not name: the places of all cards before and after what people do on the page.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { append, writeRun } from "./events.mjs";
import {
  axe,
  equal,
  eventually,
  settled,
  temporary,
  test,
} from "./harness.mjs";
import { card, choose, plot, ready } from "./known.mjs";

const positions = (page) =>
  page.locator("[data-card]").evaluateAll((cards) =>
    cards.map((one) => {
      const { x, y, width, height } = one.getBoundingClientRect();
      return [one.dataset.card, x, y, width, height].join(" ");
    }),
  );

function logs() {
  const dir = temporary();
  const paths = ["lr0.1", "lr0.01", "lr0.001", "warm"].map((name, run) =>
    writeRun(
      dir,
      `sweep/${name}`,
      Array.from({ length: 120 }, (_, i) => [
        i,
        {
          "train/loss": Math.exp(-i / (20 + run)) + 0.01 * Math.sin(i * run),
          "val/acc": 1 - Math.exp(-i / (30 + 10 * run)),
          ...(run === 3 ? { "extra/warmup": i } : {}),
        },
      ]),
      1.7e9 + run,
    ),
  );
  [0.1, 0.01, 0.001, 0.1].forEach((lr, run) =>
    writeFileSync(
      join(
        dir,
        "sweep",
        ["lr0.1", "lr0.01", "lr0.001", "warm"][run],
        "config.json",
      ),
      JSON.stringify({ lr, opt: run === 1 ? "sgd" : "adam" }),
    ),
  );
  return { dir, paths };
}

const rows = (page) => page.locator("[role=treegrid] [data-row]").count();
const names = (page) =>
  page
    .locator("[role=treegrid] [data-row]")
    .evaluateAll((all) =>
      all.map((row) =>
        row.querySelectorAll("[role=gridcell]")[2].textContent.trim(),
      ),
    );

test("steadiness: no card moves by 44 kinds of click, key, filter and live update", async ({
  page,
  open,
}) => {
  const { dir, paths } = logs();
  await open(dir);
  await ready(page, "train/loss");
  await ready(page, "val/acc");
  const before = await positions(page);
  const at = async (fx, fy, tag = "train/loss") => {
    const box = await plot(page, tag).boundingBox();
    return [box.x + box.width * fx, box.y + box.height * fy];
  };
  const filter = page.locator(".side .top input").first();
  const first = page.getByRole("checkbox", { name: "Show lr0.1", exact: true });
  const actions = {
    "hover a chart": async () => page.mouse.move(...(await at(0.5, 0.4))),
    "click into a chart": async () => page.mouse.click(...(await at(0.5, 0.4))),
    "click the x axis": async () => page.mouse.click(...(await at(0.5, 0.95))),
    "remove the chip of the step": () =>
      page.locator(".chip .x").first().click(),
    "half a regular expression": () => filter.fill("lr("),
    "a regular expression": () => filter.fill("lr0"),
    "half a query": () => filter.fill("lr > "),
    "a query": () => filter.fill("lr > 0.005"),
    "a query that no run fits": () => filter.fill("lr > 100"),
    "no filter": () => filter.fill(""),
    "hide a run": () => first.click({ force: true }),
    "show it again": () => first.click({ force: true }),
    "sort the runs": () => page.locator(".side .hb").first().click(),
    "sort them back": () => page.locator(".side .hb").first().click(),
    "hover a run": () =>
      page.locator("[role=treegrid] [data-row]").first().hover(),
    "smooth more": () =>
      page.getByRole("slider", { name: "Smoothing" }).fill("0.9"),
    "a log scale": () =>
      page.getByRole("radio", { name: "Log", exact: true }).last().click(),
    "zoom in": async () => {
      await page.mouse.move(...(await at(0.3, 0.3)));
      await page.mouse.down();
      await page.mouse.move(...(await at(0.7, 0.6)), { steps: 4 });
      await page.mouse.up();
    },
    "fit again": async () => page.mouse.dblclick(...(await at(0.5, 0.5))),
    "open and close a menu": async () => {
      await card(page, "val/acc").hover();
      await card(page, "val/acc")
        .getByRole("button", { name: "More actions" })
        .click();
      await page.keyboard.press("Escape");
    },
    "settings of one chart": () =>
      page.getByRole("radio", { name: "This chart", exact: true }).click(),
    "open and close the palette": async () => {
      await page.keyboard.press("Control+k");
      await page.getByRole("combobox").last().waitFor();
      await page.keyboard.press("Escape");
    },
    "pause and resume": async () => {
      await page.locator(".hdr .live").click();
      await page.locator(".hdr .live").click();
    },
    "the settings of all charts": () =>
      page.getByRole("radio", { name: "All charts", exact: true }).click(),
    "a linear scale again": () =>
      page.getByRole("radio", { name: "Linear", exact: true }).last().click(),
    "another x axis": () => choose(page, "X", "Relative time"),
    "steps again": () => choose(page, "X", "Step"),
    "ignore fewer outliers": () =>
      page
        .getByRole("slider", {
          name: "Share of values ignored at each end when fitting",
        })
        .fill("1"),
    "a fainter raw line": () =>
      page.getByRole("slider", { name: "Raw line opacity" }).fill("0.5"),
    "charts without sync": () =>
      page.getByRole("switch", { name: /Sync charts/ }).click({ force: true }),
    "charts in sync": () =>
      page.getByRole("switch", { name: /Sync charts/ }).click({ force: true }),
    "explore a chart by keys": async () => {
      await plot(page, "train/loss").focus();
      for (const key of ["Enter", "ArrowRight", "ArrowDown", "Escape"])
        await page.keyboard.press(key);
    },
    "a menu on a plot": async () => {
      await page.mouse.click(...(await at(0.5, 0.5)), { button: "right" });
      await page.getByRole("menu").waitFor();
      await page.keyboard.press("Escape");
    },
    "export and cancel": async () => {
      await plot(page, "train/loss").focus();
      await page.keyboard.press("e");
      await page.getByRole("dialog").waitFor();
      await page.keyboard.press("Escape");
    },
    "help and back": async () => {
      await page.locator("main").focus();
      await page.keyboard.press("?");
      await page.getByRole("dialog").waitFor();
      await page.keyboard.press("Escape");
    },
    "the column picker": async () => {
      await page.getByRole("button", { name: "Columns", exact: true }).click();
      await page.keyboard.press("Escape");
    },
    "colour by a hyperparameter": async () => {
      await page.locator(".specs .sel").last().click();
      await page
        .getByRole("menuitemcheckbox", { name: "lr" })
        .or(page.getByRole("menuitem", { name: "lr", exact: true }))
        .first()
        .click();
    },
    "undo it": () => page.keyboard.press("Control+z"),
    "hide every run": () =>
      page
        .getByRole("checkbox", { name: /all/i })
        .first()
        .click({ force: true }),
    "show every run": () =>
      page
        .getByRole("checkbox", { name: /all/i })
        .first()
        .click({ force: true }),
    "dark and light": async () => {
      await page.emulateMedia({ colorScheme: "dark" });
      await settled(page);
      await page.emulateMedia({ colorScheme: "light" });
    },
    "another page and back": async () => {
      await page.locator("nav a.tab", { hasText: "Files" }).click();
      await page.getByRole("table").first().waitFor();
      await page.goBack();
      await ready(page, "train/loss");
      await ready(page, "val/acc");
    },
    "a run that arrives": async () => {
      writeRun(dir, "sweep/zz_new", [
        [0, { "train/loss": 1, "val/acc": 0 }],
        [1, { "train/loss": 1, "val/acc": 0 }],
      ]);
      await page
        .getByRole("button", { name: /Reload/ })
        .first()
        .click();
      await page
        .locator("[role=treegrid] [data-row]", { hasText: "zz_new" })
        .waitFor();
    },
    "a live update": async () => {
      append(paths[0], 1.7e9 + 500, 120, { "train/loss": 0.5, "val/acc": 0.5 });
      await eventually(
        async () =>
          (await page.locator(".hdr .live").innerText()).includes("ago"),
        true,
        "news of the update",
      );
    },
  };
  for (const [what, act] of Object.entries(actions)) {
    await act();
    await settled(page);
    equal(await positions(page), before, what);
  }
});

test("a query finds runs by hyperparameters and metrics, completes names and says what is missing", async ({
  page,
  open,
}) => {
  const { dir } = logs();
  await open(dir);
  await ready(page, "train/loss");
  const filter = page.locator(".side .top input").first();
  await filter.fill("lr > 0.005 and opt = adam");
  await eventually(
    () => names(page),
    ["lr0.1", "warm"],
    "by two hyperparameters",
  );
  await filter.fill("val_acc > 0.9 and not lr = 0.1");
  await eventually(
    () => names(page),
    ["lr0.01", "lr0.001"].sort(),
    "by a metric",
  );
  await filter.fill("min(train/loss) < 0");
  await eventually(
    async () => (await rows(page)) > 0 && (await rows(page)) < 4,
    true,
    "by the least value",
  );
  await filter.fill("lr > ");
  await page.getByText("a value is missing after >").waitFor();
  await filter.fill("speed > 1");
  await page.getByText("“speed” is not a hyperparameter").waitFor();
  await filter.fill("lr > 0.005 and va");
  await page.getByRole("option", { name: "val/acc", exact: true }).waitFor();
  await filter.press("Tab");
  equal(
    await filter.inputValue(),
    "lr > 0.005 and val/acc ",
    "the completed query",
  );
});

test("steadiness: a brush on an axis adds a chip and moves no axis", async ({
  page,
  open,
}) => {
  const { dir } = logs();
  await open(dir, "#hparams");
  await page.getByRole("radio", { name: /Parallel/ }).click();
  const lines = page.locator(".lines");
  await lines.waitFor();
  await settled(page);
  const before = await lines.boundingBox();
  const head = await page.locator("button.head").last().boundingBox();
  const x = head.x + head.width / 2;
  await page.mouse.move(x, before.y + 12);
  await page.mouse.down();
  await page.mouse.move(x, before.y + before.height * 0.4, { steps: 4 });
  equal(await lines.boundingBox(), before, "while brushing");
  await page.mouse.up();
  await page.locator(".chips .chip").first().waitFor();
  await settled(page);
  equal(await lines.boundingBox(), before, "with the chip");
});
