// The capture dialog: a program with a profiler server is recorded and shown, what goes wrong is said, the fields are
// remembered, and a PyTorch program that watches its folder is asked. The profiler server is one of node's own HTTP/2.
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http2";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { api, stateOf } from "./captures.mjs";
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

function varint(value) {
  const bytes = [];
  for (; value >= 0x80; value = Math.floor(value / 128))
    bytes.push((value % 128) | 0x80);
  return Buffer.from([...bytes, value]);
}

/** Answers Profile with the repository's own capture as soon as `release` is called. */
async function profiler() {
  const space = gunzipSync(
    readFileSync(
      join(ROOT, "tests/data/profile/tf_loop_input_bound.xplane.pb.gz"),
    ),
  );
  const message = Buffer.concat([
    Buffer.from([8 * 8 + 2]),
    varint(space.length),
    space,
  ]);
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  const waiting = [];
  const called = [];
  const server = createServer();
  server.on("stream", (stream, headers) => {
    called.push(headers[":path"]);
    const answer = (body) => {
      if (stream.destroyed) return;
      stream.respond(
        { ":status": 200, "content-type": "application/grpc" },
        { waitForTrailers: true },
      );
      stream.on("wantTrailers", () =>
        stream.sendTrailers({ "grpc-status": "0" }),
      );
      stream.end(body);
    };
    stream.on("error", () => {}); // a call that was cancelled
    stream.resume();
    if (headers[":path"].endsWith("/Profile"))
      waiting.push(() => answer(Buffer.concat([head, message])));
    else answer(Buffer.alloc(5));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    address: `127.0.0.1:${server.address().port}`,
    called,
    waiting,
    release: () => waiting.splice(0).forEach((one) => one()),
    close: () => server.close(),
  };
}

function logs() {
  const dir = temporary();
  writeRun(
    dir,
    "train",
    Array.from({ length: 5 }, (_, step) => [step, { loss: 1 / (1 + step) }]),
    1.7e9,
  );
  return dir;
}
/** Presses the button of the page without sessions, once it is known that there are none. */
async function press(page) {
  await page.getByText("No profiler captures in these logs").waitFor();
  await page.getByRole("button", { name: "Capture", exact: true }).click();
}
const dialog = (page) =>
  page.getByRole("dialog", { name: "Capture a running program" });

test("capture: a running program is recorded from the empty page and opens", async ({
  page,
  open,
}) => {
  const server = await profiler();
  const dir = logs();
  await open(dir, "#profile");
  await press(page);
  const box = dialog(page);
  await box.getByRole("textbox", { name: "Servers" }).fill("127.0.0.1:1");
  await box.getByRole("textbox", { name: "Retries" }).fill("0");
  await box.getByRole("textbox", { name: "Retries" }).press("Enter");
  equal(await axe(page), [], "accessibility of the dialog");
  await box.getByRole("button", { name: "Capture", exact: true }).click();
  await box
    .getByRole("alert")
    .filter({ hasText: /Nobody listens at 127\.0\.0\.1:1/ })
    .waitFor();

  await box.getByRole("textbox", { name: "Options" }).fill("no value");
  await eventually(
    () =>
      box.getByRole("button", { name: "Capture", exact: true }).isDisabled(),
    true,
    "a wrong option is not sent",
  );
  await box.getByRole("textbox", { name: "Options" }).fill("trace_mode=deep");
  await box.getByRole("textbox", { name: "Servers" }).fill(server.address);
  await box.getByRole("button", { name: "Capture", exact: true }).click();
  await box.getByRole("button", { name: "Capturing" }).waitFor();
  await box.getByText(`${server.address}: recording`).waitFor();
  server.release();
  await page.locator(".figures dd.big").first().waitFor();
  await box.waitFor({ state: "detached" });
  const [session] = await api(dir, "profile/sessions");
  await eventually(
    () => stateOf(page).session ?? session.id,
    session.id,
    "the new session is shown",
  );
  equal(session.hosts, [server.address.replace(":", "_")], "its host");

  // The fields are remembered, in this tab and after loading the page anew.
  await page.reload();
  await page.getByRole("button", { name: "Capture", exact: true }).click();
  await eventually(
    () => dialog(page).getByRole("textbox", { name: "Servers" }).inputValue(),
    server.address,
    "server",
  );
  await eventually(
    () => dialog(page).getByRole("textbox", { name: "Retries" }).inputValue(),
    "0",
    "retries",
  );
  await eventually(
    () => dialog(page).getByRole("textbox", { name: "Options" }).inputValue(),
    "trace_mode=deep",
    "options",
  );
  server.close();
});

test("capture: a capture under way is cancelled, and found again after a reload", async ({
  page,
  open,
}) => {
  const server = await profiler();
  await open(logs(), "#profile");
  await press(page);
  await dialog(page)
    .getByRole("textbox", { name: "Servers" })
    .fill(server.address);
  await dialog(page)
    .getByRole("button", { name: "Capture", exact: true })
    .click();
  await eventually(() => server.waiting.length, 1, "the program is asked");
  await page.reload();
  await press(page);
  await dialog(page).getByRole("button", { name: "Cancel" }).click();
  await dialog(page).getByText("Cancelled; nothing was written.").waitFor();
  await eventually(
    () => server.called.at(-1),
    "/tensorflow.ProfilerService/Terminate",
    "the program is told",
  );
  server.close();
});

test("capture: a PyTorch program that watches its folder is asked", async ({
  page,
  open,
}) => {
  const dir = logs();
  const sign = (captures) =>
    writeFileSync(
      join(dir, "train/sonde_profile.json"),
      JSON.stringify({
        state: "waiting",
        host: "here",
        pid: 7,
        captures,
        last: "",
      }),
    );
  sign(0);
  await open(dir, "#profile");
  await press(page);
  const box = dialog(page);
  await box.getByRole("listitem").filter({ hasText: "train" }).waitFor();
  equal(await axe(page), [], "accessibility");
  await box.getByRole("textbox", { name: "Steps" }).fill("2");
  await box.getByRole("textbox", { name: "Steps" }).press("Enter");
  await box.getByRole("button", { name: "Record" }).click();
  await box.getByText("asked").waitFor();
  const request = join(dir, "train/sonde_profile.request");
  await eventually(
    () => JSON.parse(readFileSync(request, "utf8")),
    { steps: 2 },
    "what is asked",
  );
});

test("capture: a read-only server says that it takes none", async ({
  page,
  open,
}) => {
  await open(logs(), "#profile", ["--read_only"]);
  await press(page);
  await dialog(page).getByText("This server takes no captures.").waitFor();
  await eventually(
    () =>
      dialog(page)
        .getByRole("button", { name: "Capture", exact: true })
        .count(),
    0,
    "nothing to press",
  );
  await settled(page);
});
