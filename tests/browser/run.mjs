// node tests/browser/run.mjs [part of a test's name]. VERBOSE=1 lists what passed, SHOTS=DIR keeps a
// picture of every failure.
import {readdirSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';
import {run} from './harness.mjs';

const here = dirname(fileURLToPath(import.meta.url));
for (const file of readdirSync(here).filter((name) => name.endsWith('.browser.mjs')).sort()) await import(pathToFileURL(join(here, file)).href);
process.exit(await run(process.argv[2]));
