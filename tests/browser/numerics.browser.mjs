// The numerics page, over a dump of TensorFlow's debugger.
import { cpSync, chmodSync, readdirSync } from "node:fs";
import { join } from "node:path";
import {
  axe,
  equal,
  eventually,
  ROOT,
  settled,
  temporary,
  test,
} from "./harness.mjs";
import { writeRun } from "./events.mjs";

let own;
function logdir() {
  if (own !== undefined) return own;
  own = temporary();
  cpSync(join(ROOT, "tests/data/corpus/debugger_v2"), join(own, "dump"), {
    recursive: true,
  });
  return own;
}

test("numerics: one sentence first, and the chain behind it", async ({
  page,
  open,
}) => {
  await open(logdir(), "#numerics");
  const first = page.getByRole("region", { name: "First fault" });
  await first.waitFor();
  await eventually(
    () => first.getByRole("heading").innerText(),
    "First NaN: Log at gen_tf.py:401 in its run 1; 2 tensors followed within the step.",
    "the first sentence",
  );
  equal(await first.getByRole("listitem").count(), 3, "ops in the chain");
  equal(
    await first
      .getByRole("heading")
      .evaluate((heading) => {
        const box = heading.getBoundingClientRect();
        const seen = document.elementsFromPoint(box.x + 5, box.y + 5);
        return seen.indexOf(heading);
      }),
    0,
    "nothing lies over the sentence",
  );
  equal(
    await page
      .locator("section *")
      .evaluateAll(
        (all) =>
          all.filter((one) => getComputedStyle(one).position === "fixed")
            .length,
      ),
    0,
    "no part of a card leaves it",
  );
  await first.getByRole("button").nth(1).click();
  const structure = page.getByRole("region", { name: "Graph structure" });
  await structure.getByRole("button", { name: /^Log:0/ }).waitFor();
  equal(
    await structure.getByRole("button").count(),
    3,
    "inputs and consumers of block/mul",
  );
  await structure.getByRole("button", { name: /^Log:0/ }).click();
  const stack = page.getByRole("region", { name: "Stack trace" });
  await eventually(
    () => stack.locator("pre.here .no").innerText(),
    "401",
    "the marked line of the source",
  );
  equal(await axe(page), [], "accessibility");
});

test("numerics: every pane, by keyboard", async ({ page, open }) => {
  await open(logdir(), "#numerics");
  const list = page.getByRole("listbox", { name: "Graph executions" });
  await list.getByRole("option").first().waitFor();
  equal(await list.getByRole("option").count(), 8, "traced tensors");
  await list.getByRole("option").first().focus();
  for (const key of ["ArrowDown", "ArrowDown", "ArrowDown", "Enter"])
    await page.keyboard.press(key);
  const structure = page.getByRole("region", { name: "Graph structure" });
  await structure.getByText("block/Sum", { exact: true }).waitFor();
  const timeline = page.getByRole("toolbar", { name: "Execution timeline" });
  equal(await timeline.getByRole("button").count(), 4, "executions");
  await timeline.getByRole("button").first().focus();
  for (const key of ["ArrowRight", "ArrowRight", "ArrowRight", "Enter"])
    await page.keyboard.press(key);
  await page
    .getByRole("region", { name: "Execution timeline" })
    .getByText("RealDiv")
    .waitFor();
  const stack = page.getByRole("region", { name: "Stack trace" });
  await stack.getByRole("button").first().waitFor();
  await page.getByRole("checkbox", { name: /Only NaN/ }).check();
  await eventually(() => list.getByRole("option").count(), 6, "bad tensors");
  const map = page.getByRole("region", { name: "Health map" });
  equal(await map.locator("rect.wrong").count(), 6, "bad cells");
  await map.getByRole("radio", { name: "Program order" }).click();
  await settled(page);
  await eventually(
    () =>
      Buffer.from(/&v=1\.(.*)$/.exec(page.url())?.[1] ?? "", "base64url")
        .toString()
        .includes('"program"'),
    true,
    "the address follows the view a moment later",
  );
  const link = page.url();
  await page.goto("about:blank");
  await page.goto(link);
  await eventually(
    () =>
      page
        .getByRole("radio", { name: "Program order" })
        .getAttribute("aria-checked"),
    "true",
    "the view is in the link",
  );
  await page
    .getByRole("region", { name: "Execution timeline" })
    .getByText("RealDiv")
    .waitFor();
});

let job;
/** Two ranks of a PyTorch job; the loss of the second is no number from step 6 on. */
function ranks() {
  if (job !== undefined) return job;
  job = temporary();
  cpSync(join(ROOT, "tests/data/numerics/ranks"), join(job, "job"), {
    recursive: true,
  });
  writeRun(
    job,
    "job/rank1",
    Array.from({ length: 9 }, (_, step) => [
      step,
      { loss: step < 6 ? 1 : NaN },
    ]),
  );
  return job;
}

test("numerics: ranks lie side by side, another recording op by op", async ({
  page,
  open,
}) => {
  await open(ranks(), "#numerics");
  const map = page.getByRole("region", { name: "Health map" });
  await map.getByText("rank 1").first().waitFor();
  const rows = await map.locator(".row").count();
  equal(await map.locator(".strip").count(), 2 * rows, "strips of two ranks");
  equal(
    await map.locator(".strip:first-child rect.wrong").count(),
    0,
    "the first rank is well",
  );
  await map.getByRole("radio", { name: "Gradients beside" }).click();
  await eventually(
    async () =>
      (await map.locator("button.name").allInnerTexts()).slice(0, 2).join(),
    "0,0/grad",
    "a gradient below its output",
  );
  await map.getByRole("radio", { name: "Saturation" }).click();
  await page.getByRole("button", { name: /Beside/ }).click();
  await page.getByRole("option", { name: "job/rank1" }).click();
  const compare = page.getByRole("region", {
    name: "Two recordings, op by op",
  });
  await compare.getByText(/^First difference/).waitFor();
  await compare.locator("tbody button").first().click();
  await page
    .getByRole("region", { name: "Graph structure" })
    .getByText("backward", { exact: false })
    .first()
    .waitFor();
  equal(await axe(page), [], "accessibility");
});

test("numerics: alerts by keyboard", async ({ page, open }) => {
  await open(ranks(), "#numerics");
  await page.getByRole("button", { name: /Recording/ }).click();
  await page.getByRole("option", { name: "job/rank1" }).click();
  const alerts = page.getByRole("listbox", { name: "Alerts" });
  await alerts.getByRole("option").first().focus();
  await page.keyboard.press("ArrowDown");
  await eventually(
    () => page.evaluate(() => document.activeElement?.id),
    "num-alert-1",
    "the second alert has the focus",
  );
  const op = await alerts
    .getByRole("option")
    .nth(1)
    .locator(".mono")
    .innerText();
  await page.keyboard.press("Enter");
  await page
    .getByRole("region", { name: "Graph structure" })
    .getByText(op, { exact: true })
    .first()
    .waitFor();
});

test("numerics: from a curve's NaN to the tensors of that step, and back", async ({
  page,
  open,
}) => {
  await open(ranks(), "#timeseries");
  await page
    .getByRole("button", { name: /is no number at step 6/ })
    .click();
  const tensors = page.getByRole("region", { name: "Graph executions" });
  await tensors.getByRole("button", { name: /^Step 6/ }).waitFor();
  await eventually(
    async () => (await tensors.getByText("step 6").count()) > 3,
    true,
    "tensors of that step",
  );
  await page.getByRole("button", { name: "Curves at step 6" }).click();
  await page.getByRole("button", { name: /is no number at step 6/ }).waitFor();
});
