// What the tests of the profile pages share: the server's own answers, links to a page, and the place in a link.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { check, ROOT, serve, settled, temporary } from "./harness.mjs";

/** An answer of the program that serves `logs`; with a body it is posted. */
export async function api(logs, path, body) {
  const answer = await fetch(
    `${(await serve(logs)).replace(/\/$/, "")}/api/v1/${path}`,
    body === undefined
      ? {}
      : {
          method: "POST",
          body: JSON.stringify(body),
          headers: { "Content-Type": "application/json" },
        },
  );
  check(answer.ok, `${path}: ${answer.status}`);
  return answer.json();
}
export const q = encodeURIComponent;
export const report = (logs, session, tool, more = "") =>
  api(logs, `profile/report?session=${q(session)}&tool=${tool}${more}`);
export const hash = (view) =>
  `#profile&v=1.${Buffer.from(JSON.stringify({ profile: view })).toString("base64url")}`;
export const stateOf = (page) => {
  const text = /&v=1\.([\w-]+)/.exec(page.url())?.[1];
  return text === undefined
    ? {}
    : (JSON.parse(Buffer.from(text, "base64url").toString()).profile ?? {});
};
/** Text as shown, with plain spaces and signs. */
export const plain = (text) =>
  text.replaceAll("\u202f", " ").replaceAll("\u2212", "-").trim();
export const region = (page, name) =>
  page.getByRole("region", { name, exact: true });
export const column = (table, id) =>
  table.columns.findIndex((one) => one.id === id);
export const tableOf = (found, id) => found.tables.find((one) => one.id === id);
/** A table of a report as objects. */
export const rowsOf = (found, id) => {
  const table = tableOf(found, id);
  return table.rows.map((row) =>
    Object.fromEntries(table.columns.map((one, i) => [one.id, row[i]])),
  );
};

// Those of GPUs are made, not recorded: no capture of anybody's machine.
const SESSIONS = {
  bound: ["vm.xplane.pb", "tf_loop_input_bound.xplane.pb.gz"],
  gpu: ["host0.xplane.pb", "made_gpu.xplane.pb.gz"],
  jax: ["vm.xplane.pb", "jax_cpu_mlp.xplane.pb.gz"],
  two: ["vm.xplane.pb", "jax_cpu_2dev.xplane.pb.gz"],
  torch: ["worker0.pt.trace.json", "made_gpu.worker0.pt.trace.json.gz"],
  stacks: ["worker0.pt.trace.json", "torch_cpu_full.worker0.pt.trace.json.gz"],
};
/** A log directory of the repository's captures, new: for a test that writes. */
export function ownCaptures() {
  const made = temporary();
  for (const [name, [file, source]] of Object.entries(SESSIONS)) {
    const folder = join(made, "train/plugins/profile", name);
    mkdirSync(folder, { recursive: true });
    writeFileSync(
      join(folder, file),
      gunzipSync(readFileSync(join(ROOT, "tests/data/profile", source))),
    );
  }
  return made;
}
let shared;
/** The one that all tests which only read share. */
export const sharedCaptures = () => (shared ??= ownCaptures());
/** Opens a tool's page of a session of these and waits for it. */
export async function showPage(
  open,
  page,
  session,
  tool,
  more = {},
  where = sharedCaptures(),
) {
  await open(where, hash({ session: `train/${session}`, tool, ...more }));
  await page.locator(".scroll .card").first().waitFor();
  await settled(page);
}
