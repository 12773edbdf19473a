// axe finds nothing, of any weight, on any page: light and dark, at three widths. One row a page.
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hash as profileHash, sharedCaptures } from "./captures.mjs";
import { writeRun } from "./events.mjs";
import {
  axe,
  equal,
  eventually,
  ROOT,
  settled,
  temporary,
  test,
} from "./harness.mjs";
import { logdir } from "./known.mjs";

const recorded = (name) => () => join(ROOT, "tests/data/corpus", name);

/** Makes a directory once. */
const once = (make) => {
  let made;
  return () => (made ??= make());
};
const dumps = once(() => {
  const dir = temporary();
  cpSync(recorded("debugger_v2")(), join(dir, "dump"), { recursive: true });
  return dir;
});
const examples = once(() => {
  const dir = temporary();
  const rows = Array.from({ length: 80 }, (_, i) =>
    [
      ["north", "south"][i % 2],
      20 + (i % 50),
      Number(i % 3 === 0),
      ((i * 37) % 100) / 100,
    ].join(","),
  );
  writeFileSync(
    join(dir, "loans.csv"),
    ["city,age,label,score", ...rows].join("\n"),
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
  return dir;
});
const besideEvents = once(() => {
  const dir = temporary();
  writeRun(
    dir,
    "r",
    Array.from({ length: 20 }, (_, i) => [
      i,
      {
        loss: i === 7 ? NaN : 1 / (i + 1),
        "system/cpu_percent": 50 + i,
        "system/memory_percent": 30,
      },
    ]),
  );
  mkdirSync(join(dir, "r/tables"), { recursive: true });
  writeFileSync(
    join(dir, "r/tables/rollouts.jsonl"),
    Array.from({ length: 40 }, (_, i) =>
      JSON.stringify({
        _step: 1,
        _time: 1.7e9,
        prompt: `question ${i}`,
        answer: "yes",
        reward: i / 10,
      }),
    ).join("\n") + "\n",
  );
  writeFileSync(
    join(dir, "r/console.log"),
    Array.from(
      { length: 60 },
      (_, i) => `${1.7e9 + i}.5\to0\t\x1b[1;3${i % 8}mepoch ${i}\x1b[0m`,
    ).join("\n") + "\n",
  );
  writeFileSync(
    join(dir, "alerts.yaml"),
    "loss is broken:\n  when: nan\n  tag: loss\n",
  );
  return dir;
});
const nothing = once(temporary);

const radio = (name) => (page) =>
  page.getByRole("radio", { name, exact: true }).first().click();
const tool = (session, id) => [
  `profile: ${id} of ${session}`,
  sharedCaptures,
  profileHash({ session: `train/${session}`, tool: id }),
];

// name, log directory, page, what to do before looking
const PAGES = [
  ["time series", logdir, "#timeseries"],
  [
    "time series: a step with its values",
    logdir,
    "#timeseries&v=1." +
      Buffer.from(JSON.stringify({ step: { at: 500 } })).toString("base64url"),
  ],
  [
    "time series: export",
    logdir,
    "#timeseries",
    async (page) => {
      await page
        .locator("[data-card='train/loss'] [data-chart=ready]")
        .first()
        .focus();
      await page.keyboard.press("e");
      await page.getByRole("dialog").waitFor();
    },
  ],
  [
    "command palette",
    logdir,
    "#timeseries",
    async (page) => {
      await page.keyboard.press("Control+k");
      await page.getByRole("combobox").last().fill("loss");
    },
  ],
  ["help", logdir, "#timeseries", (page) => page.keyboard.press("?")],
  ["panels", logdir, "#panels"],
  [
    "panels: a page of its own",
    logdir,
    "#panels",
    (page) => page.getByRole("button", { name: "New page" }).first().click(),
  ],
  ["empty directory", nothing, ""],
  ["images", recorded("tf2_images"), "#images"],
  ["histograms", recorded("tf2_histograms"), "#histograms"],
  ["distributions", recorded("tf2_histograms"), "#distributions"],
  ["audio", recorded("tf2_audio"), "#audio"],
  ["text", recorded("tf2_text"), "#text"],
  ["PR curves", recorded("pr_curves_custom_scalars"), "#pr_curves"],
  ["mesh", recorded("mesh"), "#mesh"],
  ["custom scalars", recorded("pr_curves_custom_scalars"), "#custom_scalars"],
  ["hparams: parallel", recorded("hparams_grid"), "#hparams"],
  ...["Table", "Scatter", "Importance", "Best"].map((name) => [
    `hparams: ${name}`,
    recorded("hparams_grid"),
    "#hparams",
    radio(name),
  ]),
  ["graph", recorded("torch_graph"), "#graphs"],
  ["projector: vectors", recorded("projector_words"), "#projector"],
  ["projector: images", recorded("projector_images"), "#projector"],
  ["numerics", dumps, "#numerics"],
  ...["", "Performance & fairness", "Features"].map((name) => [
    `what-if${name && `: ${name}`}`,
    examples,
    "#whatif",
    async (page) => {
      await page.locator('[data-points="80"]').waitFor();
      const tab = page.getByRole("radio", { name, exact: true });
      if (name !== "") await tab.first().click();
    },
  ]),
  ["tables", besideEvents, "#tables"],
  ["console", besideEvents, "#console"],
  ["system", besideEvents, "#system"],
  ["alerts", besideEvents, "#alerts"],
  ["run page", logdir, "#run"],
  ["files", logdir, "#files"],
  ["files: damage", recorded("edge_corrupt"), "#files"],
  ...[
    "overview_page",
    "input_pipeline_analyzer",
    "tf_data_bottleneck_analysis",
    "framework_op_stats",
    "kernel_stats",
    "memory_profile",
    "pod_viewer",
    "op_profile",
    "hlo_stats",
    "roofline_model",
    "graph_viewer",
    "smart_suggestion",
    "trace_viewer",
    "sql",
  ].map((id) => tool("gpu", id)),
  tool("jax", "memory_viewer"),
  ...[
    "torch.overview",
    "torch.operator",
    "torch.kernel",
    "torch.memory",
    "torch.module",
    "torch.distributed",
    "torch.ranks",
    "overview_page",
  ].map((id) => tool("torch", id)),
  tool("stacks", "torch.module"),
];

for (const [name, dir, hash, act] of PAGES)
  test(
    `axe: ${name}`,
    async ({ page, open }) => {
      await open(dir(), hash);
      await page.locator("main, [role=main], .main").first().waitFor();
      await settled(page);
      if (act !== undefined) await act(page);
      const found = {};
      for (const width of [1440, 1024, 390]) {
        await page.setViewportSize({ width, height: 900 });
        for (const colorScheme of ["light", "dark"]) {
          await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
          await eventually(
            () =>
              page.evaluate(() => document.documentElement.dataset.theme ?? ""),
            colorScheme,
            "the theme",
          ).catch(() => {});
          await settled(page);
          for (const one of await axe(page, true))
            (found[one] ??= []).push(`${width} ${colorScheme}`);
        }
      }
      equal(found, {}, name);
    },
    { context: { reducedMotion: "reduce" } },
  );
