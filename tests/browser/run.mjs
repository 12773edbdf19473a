// node tests/browser/run.mjs [part of a test's or a file's name]. Every *.browser.mjs beside this file is a
// suite. VERBOSE=1 lists what passed and how long it took, SHOTS=DIR keeps a picture of every failure,
// WORKERS=N runs N tests at a time.
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { from, run } from "./harness.mjs";

const here = dirname(fileURLToPath(import.meta.url));
for (const file of readdirSync(here)
  .filter((name) => name.endsWith(".browser.mjs"))
  .sort()) {
  from(file);
  await import(pathToFileURL(join(here, file)).href);
}
process.exit(await run(process.argv[2]));
