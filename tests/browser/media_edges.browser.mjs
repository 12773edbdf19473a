// Media that are broken, empty, alone, wide or of different sizes, on logs written here.
import { crc32, deflateSync } from "node:zlib";
import {
  check,
  equal,
  eventually,
  settled,
  temporary,
  test,
} from "./harness.mjs";
import { writeRun } from "./events.mjs";

function png(width, height, [r, g, b, a = 255]) {
  const chunk = (name, data) => {
    const body = Buffer.concat([Buffer.from(name), data]);
    const ends = Buffer.alloc(8);
    ends.writeUInt32BE(data.length, 0);
    ends.writeUInt32BE(crc32(body), 4);
    return Buffer.concat([ends.subarray(0, 4), body, ends.subarray(4)]);
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 6, 0, 0, 0], 8);
  const row = Buffer.concat([
    Buffer.from([0]),
    Buffer.alloc(width * 4, Buffer.from([r, g, b, a])),
  ]);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]),
    chunk("IHDR", head),
    chunk("IDAT", deflateSync(Buffer.concat(Array(height).fill(row)))),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}
function wav(frames, channels, at) {
  const out = Buffer.alloc(44 + frames * channels * 2);
  out.write("RIFF", 0);
  out.writeUInt32LE(out.length - 8, 4);
  out.write("WAVEfmt ", 8);
  out.writeUInt32LE(16, 16);
  out.writeUInt16LE(1, 20);
  out.writeUInt16LE(channels, 22);
  out.writeUInt32LE(8000, 24);
  out.writeUInt32LE(16000 * channels, 28);
  out.writeUInt16LE(2 * channels, 32);
  out.writeUInt16LE(16, 34);
  out.write("data", 36);
  out.writeUInt32LE(out.length - 44, 40);
  for (let f = 0; f < frames; f++)
    for (let c = 0; c < channels; c++)
      out.writeInt16LE(
        Math.round(at(f, c) * 32767),
        44 + (f * channels + c) * 2,
      );
  return out;
}
const [RED, GREEN] = [
  [255, 0, 0],
  [0, 255, 0],
];
const good = png(48, 32, RED);
const wide = `|${"col|".repeat(40)}\n|${"---|".repeat(40)}\n|${"some words|".repeat(40)}`;

let logs;
function logdir() {
  if (logs !== undefined) return logs;
  logs = temporary();
  const stereo = wav(
    8000,
    2,
    (_, c) => (c === 0 ? 0.9 : 0.02) * (_ % 2 ? 1 : -1),
  );
  for (const [run, colour] of [
    ["one", GREEN],
    ["two", RED],
    ["three", RED],
  ]) {
    writeRun(logs, run, [
      [
        0,
        {
          plain: {
            picture: png(8, 8, colour),
            description: "about **this** picture",
          },
          shape: {
            picture: run === "one" ? png(100, 30, RED) : png(30, 100, GREEN),
          },
          stereo: { sound: stereo, description: "a sound" },
          words: { text: "first", description: "a text" },
          hollow: { text: "" },
          table: { text: wide },
          bad: { picture: good },
          noise: { sound: stereo },
        },
      ],
      [
        1,
        {
          stereo: { sound: stereo },
          words: { text: "second" },
          bad: { picture: good.subarray(0, 60) },
          noise: { sound: Buffer.from("garbage garbage garbage") },
        },
      ],
      [
        2,
        {
          bad: { picture: Buffer.from("not a picture at all") },
          noise: { sound: Buffer.alloc(0) },
        },
      ],
      [3, { bad: { picture: Buffer.alloc(0) } }],
    ]);
  }
  writeRun(logs, "single", [
    [
      0,
      {
        lonely: { picture: good },
        said: { sound: stereo, label: "a **loud** clip" },
      },
    ],
  ]);
  // Enough cards that the last one, which has a step of its own, is far below the window.
  writeRun(logs, "last", [
    [
      0,
      Object.fromEntries(
        Array.from({ length: 10 }, (_, i) => [
          `tall/${i}`,
          { picture: png(16, 16, RED) },
        ]),
      ),
    ],
    [7, { "tall/9": { picture: png(16, 16, GREEN) } }],
  ]);
  return logs;
}
const card = (page, name) => page.getByRole("region", { name, exact: true });
const segment = (page, name) =>
  page.getByRole("radio", { name, exact: true }).click();
const filter = (page, text) =>
  page.getByRole("textbox", { name: "Filter tags" }).fill(text);
const at = async (page, step) => {
  await page
    .getByRole("textbox", { name: "Step", exact: true })
    .fill(String(step));
  await page.getByRole("textbox", { name: "Step", exact: true }).press("Enter");
};

test("a broken picture says what is wrong with it", async ({ page, open }) => {
  await open(logdir(), "#images");
  await filter(page, "^bad$");
  const here = card(page, "bad of one");
  await here.getByText("No bytes were written").waitFor();
  equal(
    await here.getByRole("button", { name: "Download the raw data" }).count(),
    0,
    "nothing to save",
  );
  await at(page, 2);
  await here.getByText("not an image of a known kind").waitFor();
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    here.getByRole("button", { name: "Download the raw data" }).click(),
  ]);
  equal(file.suggestedFilename(), "bad_2.bin", "name of the saved bytes");
  await at(page, 1);
  await here.getByText("cut short").waitFor();
  await at(page, 0);
  await here.getByText("cut short").waitFor({ state: "detached" });
  await here.locator("img").waitFor();
  await at(page, 2);
  await here.getByRole("button", { name: "Compare and zoom" }).click();
  for (const mode of ["Side by side", "Wipe", "Flicker"]) {
    await segment(page, mode);
    await page
      .getByText("Side A: the image of step 2 cannot be shown")
      .waitFor();
  }
  await segment(page, "Side by side");
  await page.getByRole("button", { name: "Step and saving of A" }).click();
  check(
    await page.getByRole("menuitem", { name: "Save as PNG" }).isDisabled(),
    "there is nothing to save as PNG",
  );
  await page.keyboard.press("Escape");
  for (const step of [1, 2, 3])
    await page
      .getByRole("button", {
        name: `Go to step ${step} of one, whose image cannot be shown`,
      })
      .waitFor();
});

test(
  "a picture that could not be fetched comes when the server is back",
  async ({ page, open, context }) => {
    await open(logdir(), "#images");
    await filter(page, "^bad$");
    const here = card(page, "bad of one");
    await here.getByText("No bytes were written").waitFor();
    await context.setOffline(true);
    await at(page, 0);
    await here.getByText("the server is not reachable").waitFor();
    await context.setOffline(false);
    await here.locator("img").waitFor();
  },
  { console: false },
);

test("compared: colours of the same brightness differ, shapes are kept, B is another run", async ({
  page,
  open,
}) => {
  await open(logdir(), "#images");
  await card(page, "plain of two")
    .getByRole("button", { name: "Compare and zoom" })
    .click();
  await page.getByRole("region", { name: "Side A: two" }).waitFor();
  await page.getByRole("region", { name: "Side B: one" }).waitFor(); // the run after the last
  await eventually(
    () => page.locator("[data-stat=mean]").innerText(),
    "0.6667",
    "red against green",
  );
  await page.keyboard.press("b");
  await page.getByRole("region", { name: "Side B: three" }).waitFor();
  await eventually(
    () => page.locator("[data-stat=mean]").innerText(),
    "0.0000",
    "red against red",
  );
  await page.keyboard.press("a");
  await page.getByRole("region", { name: "Side A: one" }).waitFor();
  await page.getByRole("button", { name: /^Tag/ }).click();
  await page.getByRole("option", { name: "shape" }).click();
  await segment(page, "Wipe");
  await page.getByText("sizes differ: A 100 × 30, B 30 × 100").waitFor();
  await page.getByRole("button", { name: /^Tag/ }).click();
  await page.getByRole("option", { name: "lonely" }).click();
  await page
    .getByRole("region", { name: "Side A: single" })
    .getByRole("application")
    .waitFor();
  equal(
    await page.getByRole("region", { name: /^Side B|A − B/ }).count(),
    0,
    "panes beside the only picture",
  );
});

test("keys of a focused control stay its own; arrows move the step on every media page", async ({
  page,
  open,
}) => {
  await open(logdir(), "#images");
  await filter(page, "^bad$");
  await card(page, "bad of one").getByText("No bytes were written").waitFor();
  await at(page, 0);
  const picture = card(page, "bad of one").getByRole("button", {
    name: "Actual size of bad",
  });
  await picture.press(" ");
  await eventually(
    () => picture.getAttribute("aria-pressed"),
    "true",
    "Space presses the picture",
  );
  const slider = page.getByRole("slider", { name: "Step" });
  equal(
    await slider.getAttribute("aria-valuetext"),
    "step 0, 1 of 4",
    "nothing plays",
  );
  await picture.press("ArrowRight");
  await eventually(
    () => slider.getAttribute("aria-valuetext"),
    "step 1, 2 of 4",
    "an arrow on a button moves the step",
  );
  const bright = page.getByRole("slider", { name: "Brightness" });
  if ((await bright.count()) === 0)
    await page.getByRole("button", { name: "Image", exact: true }).click();
  await bright.press("ArrowRight");
  await eventually(
    () => bright.getAttribute("aria-valuetext"),
    "1.01",
    "an arrow on a slider moves the slider",
  );
  equal(
    await slider.getAttribute("aria-valuetext"),
    "step 1, 2 of 4",
    "the step stays",
  );
  for (const tab of ["audio", "text"]) {
    await open(logdir(), `#${tab}`);
    if (tab === "text") await segment(page, "One step");
    await filter(page, "stereo|words");
    await eventually(
      () => slider.getAttribute("aria-valuetext"),
      "step 1, 2 of 2",
      "the newest step",
    );
    await page.locator("h1").evaluate(() => document.activeElement.blur());
    await page.keyboard.press("ArrowLeft");
    await eventually(
      () => slider.getAttribute("aria-valuetext"),
      "step 0, 1 of 2",
      `one step back on ${tab}`,
    );
  }
});

test(
  "audio: a stereo waveform has its channels in lanes, errors are words, another step stops",
  async ({ page, open, problems }) => {
    await open(logdir(), "#audio");
    await filter(page, "stereo|noise");
    const here = card(page, "stereo of one");
    await here.getByText("stereo", { exact: false }).first().waitFor();
    await settled(page);
    // Loud left, quiet right: the upper lane is full of ink, the lower one is not.
    const lanes = () =>
      here.locator("canvas").evaluate((node) => {
        const { width, height } = node;
        const px = node.getContext("2d").getImageData(0, 0, width, height).data;
        const ink = (y) => {
          let n = 0;
          for (let x = 20; x < width - 20; x++)
            n += px[(Math.round(y * height) * width + x) * 4 + 3] > 60;
          return n / (width - 40);
        };
        return [ink(0.12) > 0.9, ink(0.55) > 0.1];
      });
    await eventually(lanes, [true, false], "lanes");
    const broken = card(page, "noise of one");
    await broken.getByText("No bytes were written").waitFor();
    await at(page, 1);
    await broken.getByRole("button", { name: "Play" }).click();
    await broken.getByText("The browser cannot play its bytes").waitFor();
    await broken.getByRole("button", { name: "Download the raw data" }).waitFor();
    await here.getByRole("button", { name: "Play" }).click();
    await here.getByRole("button", { name: "Pause" }).waitFor();
    await at(page, 0);
    await here.getByRole("button", { name: "Play" }).waitFor();
    equal(
      problems.filter((one) => !/^422 .*\/peaks\//.test(one)),
      [],
      "problems besides waveforms of garbage",
    );
  },
  { console: false },
);

test("audio: a label is Markdown", async ({ page, open }) => {
  await open(logdir(), "#audio");
  await card(page, "said of single")
    .locator(".label strong", { hasText: "loud" })
    .waitFor();
});

test(
  "images: the slider knows the steps of cards out of view",
  async ({ page, open }) => {
    await open(logdir(), "#images");
    await filter(page, "^tall/");
    await eventually(
      () =>
        page
          .getByRole("slider", { name: "Step" })
          .getAttribute("aria-valuetext"),
      "step 7, 2 of 2",
      "steps of all cards",
    );
  },
  { viewport: { width: 700, height: 500 } },
);

test("text: wide tables scroll, empty and single texts say so, search from every mode", async ({
  page,
  open,
}) => {
  await open(logdir(), "#text");
  await filter(page, "table");
  const cell = card(page, "table of one").locator("td").first();
  await cell.waitFor();
  check(
    await cell.evaluate((node) => node.getBoundingClientRect().height < 60),
    "a cell has lines of whole words",
  );
  await filter(page, "hollow");
  await card(page, "hollow of one").getByText("Empty text").waitFor();
  await segment(page, "Changes");
  await card(page, "hollow of one")
    .getByText("Only one step was written")
    .waitFor();
  await page.getByRole("textbox", { name: "Search texts" }).fill("second");
  await filter(page, "words");
  await card(page, "words of one").getByText("1 of 2 steps").waitFor();
});

test("descriptions of tags are on media cards", async ({ page, open }) => {
  for (const [tab, name, text] of [
    ["images", "plain of one", "about this picture"],
    ["audio", "stereo of one", "a sound"],
    ["text", "words of one", "a text"],
  ]) {
    await open(logdir(), `#${tab}`);
    await card(page, name).getByRole("button", { name: "Description" }).click();
    await page
      .getByRole("dialog", { name: "Description" })
      .getByText(text)
      .waitFor();
  }
});

test(
  "images: the tool bar fits into a narrow window",
  async ({ page, open }) => {
    await open(logdir(), "#images");
    await segment(page, "Side by side");
    await page.getByRole("region", { name: /^Side A/ }).waitFor();
    await eventually(
      () =>
        page.evaluate(
          () =>
            [...document.querySelectorAll(".bar *")].filter(
              (node) => node.getBoundingClientRect().right > innerWidth + 1,
            ).length,
        ),
      0,
      "controls outside the window",
    );
  },
  { viewport: { width: 500, height: 700 } },
);
