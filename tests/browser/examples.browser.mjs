// The examples of examples/python, run and shown: each tab holds what the tutorial flow logged. Needs the package
// that tests/writers/run.py builds, and the Python of ./test; without them the tests are skipped.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { ROOT, skip, temporary, test } from "./harness.mjs";

const PACKAGE = join(ROOT, "build/python/python");
const NAMES = ["custom_loop", "hparams_grid", "step_metrics", "torch_style"];

let logs;
/** All examples side by side, made once. */
function logdir() {
  if (logs !== undefined) return logs;
  const python = process.env.PYTHON ?? join(ROOT, ".venv-test/bin/python");
  if (!existsSync(join(PACKAGE, "sonde/_sonde.abi3.so")) || !existsSync(python))
    return skip('the Python package is not built (./test writers builds it)');
  const folder = temporary();
  for (const name of NAMES) {
    const run = spawnSync(
      python,
      [join(ROOT, `examples/python/${name}.py`), join(folder, name)],
      { env: { ...process.env, PYTHONPATH: PACKAGE }, encoding: "utf8" },
    );
    if (run.status !== 0) throw new Error(`${name}.py: ${run.stderr}`);
  }
  logs = folder;
  return logs;
}

const SHOWN = [
  ["timeseries", [/^loss\b/, "distance", "stride", "waves"]],
  ["images", ["confusion matrix", "25 training examples", "noise"]],
  ["histograms", ["weights"]],
  ["audio", ["tone"]],
  ["text", ["config", "the walker is at"]],
  ["pr_curves", ["precision and recall"]],
  ["mesh", ["cloud"]],
  ["custom_scalars", ["Training"]],
  ["hparams", ["learning_rate", "momentum"]],
];

for (const [tab, texts] of SHOWN) {
  test(`examples: ${tab} shows what they log`, async ({ page, open }) => {
    await open(logdir(), `#${tab}`);
    for (const text of texts) await page.getByText(text).first().waitFor();
  });
}
