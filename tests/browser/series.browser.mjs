// Groups, columns, pins, axes, exports, links and frames of the time series page, every number checked.
import {createServer} from 'node:http';
import {readFileSync} from 'node:fs';
import {writeRun} from './events.mjs';
import {
  axe,
  check,
  close,
  corpus,
  equal,
  eventually,
  numberOf,
  passes,
  serve,
  settled,
  temporary,
  test,
} from './harness.mjs';
import {
  card,
  chip,
  choose,
  exported,
  filterTags,
  hover,
  logdir,
  N,
  NAMES,
  plot,
  ready,
  stored,
  tableRows,
  tipPasses,
  value,
} from './known.mjs';

async function group(page, item) {
  await page.getByRole('button', {name: /^Group/}).click();
  await page.getByRole('menuitemcheckbox', {name: item}).click();
}
async function groupByRegex(page, source) {
  await group(page, 'Regular expression…');
  await page.getByRole('textbox', {name: 'Regular expression', exact: true}).fill(source);
  await page.getByRole('button', {name: 'Apply'}).click();
  await eventually(() => page.locator('[data-row^="g "]').count(), 2, 'group rows');
  await settled(page);
}
const groupRows = page =>
  page
    .locator('[data-row^="g "]')
    .evaluateAll(rows =>
      rows.map(row => row.querySelectorAll('[role=gridcell]')[2].textContent.replace(/\s+/g, ' ').trim()),
    );
async function addColumn(page, name, what) {
  await page.getByRole('button', {name: 'Columns'}).click();
  if (what !== undefined) {
    await page.locator('.box .sel').click();
    await page.getByRole('option', {name: what, exact: true}).click();
  }
  await page
    .locator('.box .row')
    .filter({has: page.getByText(name, {exact: true})})
    .getByRole('checkbox')
    .click();
  await page.keyboard.press('Escape');
}
const quantile = (list, q) => {
  const sorted = [...list].sort((a, b) => a - b);
  const at = q * (sorted.length - 1);
  const i = Math.floor(at);
  return sorted[i] + (sorted[Math.min(i + 1, sorted.length - 1)] - sorted[i]) * (at - i);
};

test('run table: last value and other columns equal the data, sorting by them', async ({page, open}) => {
  await open(logdir());
  await ready(page);
  const last = NAMES.map((_, run) => stored(run, N - 1));
  await passes(async () => {
    const rows = await tableRows(page);
    equal(
      rows.map(([name]) => name),
      NAMES,
      'order of names',
    );
    rows.forEach(([name, loss], i) =>
      check(loss !== '' && Math.abs(numberOf(loss) - last[i]) <= 6e-4, `last loss of ${name} is "${loss}"`),
    );
  });
  await page.getByRole('button', {name: 'Columns'}).click();
  await page.keyboard.press('Escape');
  await page.locator('[role=columnheader]').getByRole('button', {name: /loss/}).click();
  const order = NAMES.map((name, i) => [name, last[i]])
    .sort((a, b) => a[1] - b[1])
    .map(([name]) => name);
  await eventually(async () => (await tableRows(page)).map(row => row[0]), order, 'sorted by loss');
  await page.locator('[role=columnheader]').getByRole('button', {name: /loss/}).click();
  await eventually(async () => (await tableRows(page)).map(row => row[0]), order.toReversed(), 'sorted down');
  await addColumn(page, 'train/loss', 'min');
  const least = run => Math.min(...Array.from({length: N}, (_, i) => stored(run, i)).filter(Number.isFinite));
  await page
    .locator('[role=columnheader]')
    .getByRole('button', {name: /min/})
    .or(page.getByText(/1 more column/))
    .first()
    .waitFor();
  await page.mouse.move(0, 0);
  const separator = page.getByRole('separator').first();
  await separator.focus();
  for (let i = 0; i < 12; i++) await page.keyboard.press('ArrowRight'); // a wider panel shows more columns
  await passes(async () => {
    const rows = await tableRows(page);
    equal(
      rows.map(row => row.filter(cell => cell !== '').length),
      NAMES.map(() => 4),
      'columns in view',
    );
    for (const row of rows) close(numberOf(row.at(-1)), least(NAMES.indexOf(row[0])), 6e-4, `least loss of ${row[0]}`);
  });
});

test('hyperparameters: columns, filter, groups and colours', async ({page, open}) => {
  await open(corpus('hparams_grid'));
  await page.locator('#app [data-chart=ready]').first().waitFor();
  await settled(page);
  await addColumn(page, 'optimizer');
  await eventually(
    async () => (await tableRows(page)).filter(row => row.includes('adam')).length,
    8,
    'four trials with adam, each with its validation run',
  );
  await page
    .locator('[role=columnheader]')
    .getByRole('button', {name: /optimizer/})
    .click({button: 'right'});
  await page.getByRole('menuitem', {name: /^Filter/}).click();
  await page.locator('.popover, [role=dialog]').getByText('sgd', {exact: true}).click();
  await page.keyboard.press('Escape');
  await eventually(
    async () => (await tableRows(page)).filter(row => row.includes('sgd')).length,
    0,
    'runs with sgd after the filter',
  );
  await chip(page, 'optimizer').getByRole('button').last().click();
  await eventually(async () => (await tableRows(page)).filter(row => row.includes('sgd')).length, 8, 'filter removed');
  await group(page, 'optimizer');
  await eventually(() => groupRows(page), ['adam 8', 'sgd 8'], 'groups');
  await group(page, 'num_units');
  await eventually(async () => (await groupRows(page)).length, 4, 'groups of two hyperparameters');
});

test('groups by regular expression: centre and every band equal the reference', async ({page, open}) => {
  await open(logdir());
  await ready(page);
  await groupByRegex(page, '^(a|b)/');
  await eventually(() => groupRows(page), ['a 3', 'b 3'], 'groups');
  await choose(page, 'Method', 'None');
  const bounds = row => row[2].split('…').map(text => numberOf(text));
  const at = step => [0, 1, 2].map(run => value(run, step / 10));
  async function band(option, wanted, tolerance = 6e-4) {
    if (option !== null) await choose(page, 'Band', option);
    await hover(page, 'train/loss', 0.3, 0.6);
    await tipPasses(page, ({step, rows}) => {
      const row = rows.find(one => one[0] === 'a');
      const [lo, hi] = wanted(at(step));
      const got = bounds(row);
      close(got[0], lo, tolerance, `${option} low`);
      close(got[1], hi, tolerance, `${option} high`);
    });
  }
  const mean = list => list.reduce((a, b) => a + b) / list.length;
  const std = list => Math.sqrt(list.reduce((sum, v) => sum + (v - mean(list)) ** 2, 0) / (list.length - 1));
  await band(null, v => [mean(v) - std(v), mean(v) + std(v)]);
  await band('± std error', v => [mean(v) - std(v) / Math.sqrt(3), mean(v) + std(v) / Math.sqrt(3)]);
  await band('Min … max', v => [Math.min(...v), Math.max(...v)]);
  await band('5 … 95 %', v => [quantile(v, 0.05), quantile(v, 0.95)]);
  await band('25 … 75 %', v => [quantile(v, 0.25), quantile(v, 0.75)]);
  // 1 in 27 resamples of three is all the largest, 3 in 27 have it twice: the interval of the mean ends between.
  await choose(page, 'Band', '95 % bootstrap');
  await hover(page, 'train/loss', 0.3, 0.6);
  await tipPasses(page, ({step, rows}) => {
    const [least, middle, most] = at(step).sort((a, b) => a - b);
    const [lo, hi] = bounds(rows.find(one => one[0] === 'a'));
    check(lo >= least - 6e-4 && lo <= (2 * least + middle) / 3 + 6e-4, `bootstrap low ${lo}`);
    check(hi <= most + 6e-4 && hi >= (2 * most + middle) / 3 - 6e-4, `bootstrap high ${hi}`);
  });
  await page.getByRole('radio', {name: 'Median'}).click();
  await settled(page);
  await hover(page, 'train/loss', 0.31, 0.6);
  await tipPasses(page, ({step, rows}) =>
    close(numberOf(rows.find(one => one[0] === 'a')[1]), quantile(at(step), 0.5), 6e-4, 'median'),
  );
  await page.mouse.move(5, 5);
  await page.getByRole('radio', {name: 'Thin', exact: true}).click();
  await eventually(
    async () => (await plot(page, 'train/loss').getAttribute('aria-label')).includes('8 lines'),
    true,
    'two groups and six members',
  );
});

test('pins, several tags in one chart; the link restores all of it', async ({page, open, context}) => {
  await open(logdir());
  await ready(page);
  await plot(page, 'eval/acc').focus();
  await page.keyboard.press('.');
  await page.getByRole('region').or(page.locator('section')).getByText('Pinned', {exact: true}).first().waitFor();
  await card(page, 'train/loss').hover();
  await card(page, 'train/loss').getByRole('button', {name: 'More actions'}).click();
  await page.getByRole('menuitem', {name: /tag/i}).click();
  await page.getByRole('dialog').getByRole('button', {name: 'eval/acc'}).click();
  await ready(page, 'train/loss\neval/acc');
  await hover(page, 'train/loss\neval/acc', 0.4, 0.5);
  await tipPasses(page, ({step, rows}) => {
    check(rows.length >= 7, `${rows.length} rows`);
    for (const [label, , shown] of rows) {
      const [name, tag] = label.split(' · ');
      if (!NAMES.includes(name)) continue;
      const raw = value(NAMES.indexOf(name), step / 10);
      close(numberOf(shown), tag === 'train/loss' ? raw : 1 - raw / 3, 1e-3, label);
    }
  });
  await page.mouse.move(5, 5);
  await page
    .getByRole('radiogroup', {name: 'Scale of the vertical axis'})
    .getByRole('radio', {name: 'Log', exact: true})
    .click();
  await choose(page, 'X', 'Relative time');
  await group(page, 'folder');
  await choose(page, 'Band', 'Min … max');
  const other = await context.newPage();
  await eventually(
    async () => {
      await other.goto(page.url());
      await other.locator('#app [data-chart=ready]').first().waitFor();
      await settled(other);
      return {
        cards: await other.locator('[data-card]').evaluateAll(cards => cards.map(one => one.dataset.card)),
        groups: await groupRows(other),
        state:
          (await other.locator('[data-card="train/loss"] header .u').first().textContent()) ===
          (await card(page, 'train/loss').locator('header .u').first().textContent()),
      };
    },
    {
      cards: ['eval/acc', 'train/loss\neval/acc', 'eval/acc', 'train/epoch', 'train/loss'],
      groups: ['a 3', 'b 3'],
      state: true,
    },
    'the copied view',
  );
  await page.getByRole('button', {name: 'Clear', exact: true}).click();
  await eventually(() => page.locator('[data-card="eval/acc"]').count(), 1, 'unpinned');
});

test('x = another tag: the points lie at its values', async ({page, open}) => {
  await open(logdir());
  await ready(page);
  await choose(page, 'Method', 'None');
  await choose(page, 'X', 'train/epoch');
  await hover(page, 'train/loss', 0.5, 0.5);
  await tipPasses(page, ({head, rows, exact}) => {
    const epoch = numberOf(/train\/epoch (.*)/.exec(head)[1]);
    rows.forEach(([name], i) => {
      const run = NAMES.indexOf(name);
      if (run < 0) return;
      const of = Array.from({length: 20}, (_, k) => stored(run, epoch * 20 + k));
      check(
        of.some(v => Object.is(v, Number(exact[i]))),
        `${name} at epoch ${epoch}: ${exact[i]}`,
      );
    });
  });
});

/** Labels of an axis of an exported SVG: [position, value]. */
function ticks(svg, anchor, from, to) {
  const out = [];
  for (const [, attributes, text] of svg.matchAll(/<text([^>]*)>([^<]*)<\/text>/g)) {
    const number = numberOf(text.replace(/k$/, 'e3'));
    if (!Number.isFinite(number) || !attributes.includes(`text-anchor="${anchor}"`)) continue;
    out.push([Number(/ y="([-\d.]+)"/.exec(attributes)?.[1]), number]);
  }
  return out.filter(([, v]) => v >= from && v <= to);
}

test('log and symlog axes: equal ratios have equal distances', async ({page, open}) => {
  const dir = temporary();
  writeRun(
    dir,
    'run',
    Array.from({length: 300}, (_, i) => [
      i + 1,
      {
        wide: 10 ** (-3 + (i / 299) * 6),
        both: (i < 150 ? -1 : 1) * 10 ** (Math.abs(i - 150) / 40),
      },
    ]),
  );
  await open(dir);
  await ready(page, 'wide');
  const vertical = page.getByRole('radiogroup', {
    name: 'Scale of the vertical axis',
  });
  await vertical.getByRole('radio', {name: 'Log', exact: true}).click();
  await settled(page);
  const log = ticks(await exported(page, 'wide', 'SVG'), 'end', 1e-4, 1e4);
  check(log.length >= 3, `${log.length} ticks: ${JSON.stringify(log)}`);
  const rate = (log[1][0] - log[0][0]) / Math.log10(log[1][1] / log[0][1]);
  for (let i = 1; i < log.length; i++)
    close(log[i][0] - log[0][0], rate * Math.log10(log[i][1] / log[0][1]), 1.1, `decade at ${log[i][1]}`);
  await vertical.getByRole('radio', {name: 'Symlog', exact: true}).click();
  await settled(page);
  const symlog = ticks(await exported(page, 'both', 'SVG'), 'end', -1e5, 1e5);
  const forward = v => Math.sign(v) * Math.log10(1 + Math.abs(v));
  check(symlog.some(([, v]) => v < 0) && symlog.some(([, v]) => v > 0), `both signs: ${JSON.stringify(symlog)}`);
  const [a, b] = [symlog[0], symlog.at(-1)];
  for (const [y, v] of symlog)
    close(
      y,
      a[0] + ((b[0] - a[0]) * (forward(v) - forward(a[1]))) / (forward(b[1]) - forward(a[1])),
      1.1,
      `symlog at ${v}`,
    );
  await page
    .getByRole('radiogroup', {name: 'Scale of the horizontal axis'})
    .getByRole('radio', {name: 'Log', exact: true})
    .click();
  await ready(page, 'wide');
  await eventually(
    async () => (await card(page, 'wide').locator('header .u').textContent()).includes('x log'),
    true,
    'the card says so',
  );
});

test('export: JSON, wide and TensorBoard CSV equal the series; PNG is a picture of the asked size', async ({
  page,
  open,
}) => {
  await open(logdir());
  await ready(page);
  const json = JSON.parse(await exported(page, 'train/loss', 'JSON'));
  equal(
    json.map(one => one.run),
    NAMES,
    'runs',
  );
  json.forEach((one, run) =>
    one.points.forEach(([wall, step, v], i) =>
      check(
        wall === 1.7e9 + run * 1000 + step && step === i * 10 && Object.is(Number(v), stored(run, i)),
        `${one.run} ${step}`,
      ),
    ),
  );
  const wide = (
    await exported(page, 'train/loss', 'CSV', () => page.getByRole('radio', {name: 'Wide', exact: true}).click())
  )
    .trim()
    .split('\n')
    .map(line => line.split(','));
  equal(wide[0], ['step', ...NAMES], 'head');
  for (const [step, ...cells] of wide.slice(1))
    cells.forEach((cell, run) =>
      check(Object.is(Number(cell), stored(run, step / 10)), `${step} ${NAMES[run]}: ${cell}`),
    );
  const theirs = (
    await exported(page, 'train/loss', 'CSV', () => page.getByRole('radio', {name: 'TensorBoard', exact: true}).click())
  )
    .trim()
    .split('\n');
  equal([theirs[0], theirs.length], ['Wall time,Step,Value', 1 + 6 * N], 'TensorBoard’s form');
  const png = await exported(page, 'train/loss', 'PNG');
  equal([png.readUInt32BE(16), png.subarray(1, 4).toString()], [340 * 4, 'PNG'], 'PNG');
  const colours = await page.evaluate(async text => {
    const bitmap = await createImageBitmap(
      new Blob([Uint8Array.from(atob(text), c => c.charCodeAt(0))], {
        type: 'image/png',
      }),
    );
    const pen = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d');
    pen.drawImage(bitmap, 0, 0);
    const px = pen.getImageData(0, 0, bitmap.width, bitmap.height).data;
    const seen = new Set();
    for (let i = 0; i < px.length; i += 4) seen.add((px[i] >> 4) * 256 + (px[i + 1] >> 4) * 16 + (px[i + 2] >> 4));
    return seen.size;
  }, png.toString('base64'));
  check(colours > 20, `${colours} colours in the picture`);
});

test('10 000 runs: the table draws what is in view, the newest 1000 are shown', async ({page, open}) => {
  const dir = temporary();
  for (let i = 0; i < 10_000; i++)
    writeRun(
      dir,
      `r${i}`,
      [
        [0, {loss: i}],
        [1, {loss: i / 2}],
      ],
      1.7e9 + i,
    );
  await open(dir);
  await ready(page, 'loss');
  await eventually(
    async () => /1000 of 10000/.test((await page.locator('.foot').first().textContent()).replaceAll('\u202f', '')),
    true,
    'foot',
  );
  await passes(async () => {
    const rows = await page.locator('[data-row]').count();
    check(rows > 10 && rows < 120, `${rows} rows in the document`);
  });
  await eventually(
    () => page.locator('[data-row]').first().getAttribute('aria-selected'),
    'false',
    'the oldest is not drawn',
  );
  await page.locator('[data-row]').first().press('End');
  await page.locator('[data-row][aria-selected=true]', {hasText: 'r9999'}).waitFor();
  await page.getByRole('textbox', {name: /Filter runs/}).fill('^r12.$');
  await eventually(
    async () => (await tableRows(page)).map(row => row[0]),
    Array.from({length: 10}, (_, i) => `r12${i}`),
    'filtered and in natural order',
  );
});

test('name, note and tags of a run are kept beside the logs and shown', async ({page, open}) => {
  const dir = temporary();
  writeRun(dir, 'one', [
    [0, {loss: 1}],
    [1, {loss: 2}],
  ]);
  await open(dir);
  await ready(page, 'loss');
  await page.locator('[data-row]').first().focus();
  await page.keyboard.press('Enter');
  await page.getByRole('textbox', {name: 'Tags', exact: true}).fill('best, paper');
  await page.getByRole('textbox', {name: 'Note'}).fill('warm-up was off');
  await page.getByRole('button', {name: 'Save', exact: true}).click();
  await eventually(
    () => {
      const {tags, note} = JSON.parse(readFileSync(`${dir}/.sonde/sidecar.json`, 'utf8')).runs.one;
      return {tags, note};
    },
    {tags: ['best', 'paper'], note: 'warm-up was off'},
    'sidecar',
  );
  await page.reload();
  const row = page.locator('[data-row]').first();
  await row.getByText('paper').waitFor();
  await row.getByTitle('warm-up was off').waitFor();
});

test('lossless zoom: a spike of one point in 30 000 is drawn, and found exactly', async ({page, open}) => {
  const dir = temporary();
  const [count, spike] = [30_000, 18_001];
  const at = i => (i === spike ? 50 : 1 + 0.1 * Math.sin(i / 500));
  writeRun(
    dir,
    'run',
    Array.from({length: count}, (_, i) => [i, {loss: at(i)}]),
  );
  await open(dir);
  await ready(page, 'loss');
  // Between the grid lines near the top there is nothing but the spike's bar, where the spike is.
  const bar = () =>
    plot(page, 'loss')
      .locator('canvas')
      .first()
      .evaluate(canvas => {
        const px = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
        const inked = y =>
          Array.from({length: canvas.width}, (_, x) => x).filter(x => px[(y * canvas.width + x) * 4 + 3] > 0);
        for (let y = 8; y < 30; y++) {
          const columns = inked(y).filter(x => x > 50);
          if (columns.length > 0 && columns.length < 4) return columns.map(x => x / canvas.width);
        }
        return [];
      });
  await passes(async () => {
    const shares = await bar();
    check(shares.length > 0, 'no bar in the picture');
    close(shares[0], 0.07 + 0.91 * (spike / count), 0.06, 'place of the bar');
  });
  for (const [name, text] of [
    ['Left end of the horizontal axis', spike - 20],
    ['Right end of the horizontal axis', spike + 20],
  ]) {
    await page.getByRole('textbox', {name}).fill(String(text));
    await page.getByRole('textbox', {name}).press('Enter');
  }
  await eventually(
    () => plot(page, 'loss').getAttribute('data-fine'),
    `${spike - 20},${spike + 20}`,
    'every point between the ends',
  );
  const box = await plot(page, 'loss').boundingBox();
  const found = new Map();
  for (let fx = 0.2; fx < 0.9 && !found.has(spike); fx += 0.02) {
    await page.mouse.move(box.x + box.width * fx, box.y + box.height * 0.5);
    await settled(page); // the numbers of this place, not of the last
    await tipPasses(page, ({step, exact}) => {
      check(Math.abs(step - spike) <= 21, `step ${step}`);
      equal(Number(exact[0]), Math.fround(at(step)), `value at ${step}`);
      found.set(step, true);
    });
  }
  check(found.has(spike), `the spike is not among ${[...found.keys()]}`);
});

test('in a notebook’s frame of 800×600, under a path prefix', async ({page}) => {
  const address = await serve(logdir(), ['--path_prefix', '/user/me/proxy/6006']);
  check(address.includes('/user/me/proxy/6006'), address);
  const notebook = createServer((_, answer) => {
    answer.setHeader('Content-Type', 'text/html');
    answer.end(
      `<!doctype html><title>notebook</title><iframe src="${address}" width="800" height="600" style="border:0"></iframe>`,
    );
  });
  await new Promise(resolve => notebook.listen(0, '127.0.0.1', resolve));
  try {
    await page.goto(`http://127.0.0.1:${notebook.address().port}/`);
    const frame = page.frameLocator('iframe');
    await frame.locator('[data-card="eval/acc"] [data-chart=ready]').waitFor();
    await settled(page);
    const inner = page.frames()[1];
    await eventually(
      () =>
        inner.evaluate(() => [
          document.documentElement.scrollWidth <= innerWidth,
          document.documentElement.scrollHeight <= innerHeight,
        ]),
      [true, true],
      'no scroll bar of its own',
    );
    equal(new URL(inner.url()).pathname.startsWith('/user/me/proxy/6006'), true, 'prefix');
    await frame.locator('[data-card="eval/acc"] [data-chart=ready]').hover();
    await frame.locator('.tip').waitFor();
    const asked = await inner.evaluate(() =>
      performance
        .getEntriesByType('resource')
        .map(one => new URL(one.name).pathname)
        .filter(path => !path.startsWith('/user/me/proxy/6006/')),
    );
    equal(asked, [], 'requests outside the prefix');
  } finally {
    notebook.close();
  }
});

test(
  'a tag filter narrows, the sheet of keys opens, every dialog is accessible',
  async ({page, open}) => {
    await open(logdir());
    await ready(page);
    await filterTags(page).fill('^train/');
    await eventually(() => page.locator('[data-card]').count(), 2, 'cards');
    await page.keyboard.press('Escape');
    await plot(page, 'train/loss').focus();
    await page.keyboard.press('e');
    await page.getByRole('dialog').waitFor();
    equal(await axe(page), [], 'export dialog');
    await page.keyboard.press('Escape');
    await page.getByRole('button', {name: 'Columns'}).click();
    await page.locator('.box .row').first().waitFor();
    equal(await axe(page), [], 'columns');
    await page.keyboard.press('Escape');
    await group(page, 'Regular expression…');
    await page.getByRole('textbox', {name: 'Regular expression', exact: true}).waitFor();
    equal(await axe(page), [], 'regular expression');
  },
  {dark: true},
);
