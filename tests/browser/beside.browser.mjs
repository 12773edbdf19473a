// What runs keep beside their events: tables of samples, console output, system metrics, alerts; hostile text is harmless.
import {mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {writeRun} from './events.mjs';
import {check, equal, eventually, temporary, test} from './harness.mjs';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGP4z8AARAwQCgAf7gP9i18U1AAAAABJRU5ErkJggg==',
  'base64',
);
const HOSTILE = '<img src=x onerror="window.pwned=1"><script>window.pwned=1</script>';
const BIDI = 'user\u202e\u2066txt.exe\0end';

let made;
function logs() {
  if (made !== undefined) return made;
  made = temporary();
  writeRun(
    made,
    'r',
    Array.from({length: 20}, (_, i) => [
      i,
      {loss: i === 7 ? NaN : 1 / (i + 1), 'system/cpu_percent': 50 + i, 'system/memory_percent': 30},
    ]),
  );
  const folder = join(made, 'r');
  mkdirSync(join(folder, 'tables'), {recursive: true});
  mkdirSync(join(folder, 'media'));
  writeFileSync(join(folder, 'media', 'a.png'), PNG);
  const rows = [];
  for (const step of [1, 2]) {
    for (let i = 0; i < 150; i++)
      rows.push({
        _step: step,
        _time: 1700000000 + step,
        prompt: i === 0 ? HOSTILE : i === 1 ? BIDI : `question ${i}`,
        answer: `answer ${i} at step ${step}`,
        reward: i / 10 - step,
        picture: {_media: 'media/a.png', kind: 'image'},
        chat: [
          {role: 'user', content: HOSTILE},
          {role: 'assistant', content: 'fine', tool_calls: [{name: 'search'}]},
        ],
        words: {_tokens: ['two', '<b>', 'four'], values: {logprob: [-0.1, -5, -0.2], reward: [0, 1, 0]}},
      });
  }
  rows.push({_step: 3, _time: 1, prompt: 'escape', picture: {_media: '../../../etc/passwd', kind: 'image'}});
  writeFileSync(
    join(folder, 'tables', 'rollouts.jsonl'),
    rows.map(row => JSON.stringify(row)).join('\n') + '\nnot json\n',
  );
  const lines = Array.from({length: 1200}, (_, i) => `${1700000000 + i}.5\to0\tepoch ${i}`);
  lines.push(
    `1700001300\te0\t\x1b[1;31mTraceback\x1b[0m (most recent call last): ${HOSTILE}`,
    `1700001301\to0\t${BIDI}`,
    `1700001302\to0\t\x1b]8;;javascript:alert(1)\x1b\\link`,
  );
  writeFileSync(join(folder, 'console.log'), lines.join('\n') + '\n');
  writeFileSync(join(made, 'alerts.yaml'), 'loss is broken:\n  when: nan\n  tag: loss\n');
  return made;
}
const harmless = async page => {
  equal(await page.evaluate(() => window.pwned), undefined, 'no script of a log ran');
  equal(await page.locator('.body script, .body img[onerror]').count(), 0, 'no element of a log was made');
};

test('tables: rows, search, sorting, filters, pages and the detail of a row', async ({page, open, problems}) => {
  await open(logs(), '#tables');
  const rows = page.locator('tbody tr');
  await eventually(() => rows.count(), 100, 'a page of rows');
  check((await page.locator('.bar').innerText()).includes('302'), 'how many rows there are');
  await harmless(page);
  check((await rows.nth(0).innerText()).includes('onerror="window.pwned=1"'), 'markup is shown as text');
  check((await rows.nth(1).innerText()).includes('⟨U+202E⟩'), 'what turns text is visible');
  await page.getByRole('button', {name: 'reward'}).click();
  await page.getByRole('button', {name: 'reward'}).click();
  await eventually(
    async () => (await rows.nth(0).innerText()).includes('answer 149 at step 1'),
    true,
    'the best reward first',
  );
  await page.getByLabel('Search rows').fill('answer 33 at step 2');
  await eventually(() => rows.count(), 1, 'rows found');
  await rows.nth(0).click();
  const detail = page.locator("aside[aria-label^='Row']");
  await detail.waitFor();
  check((await detail.innerText()).includes('assistant'), 'a conversation');
  equal(await detail.locator('.tok.known').count(), 3, 'coloured tokens');
  await harmless(page);
  await page.getByLabel('Search rows').fill('escape');
  await eventually(() => rows.count(), 1, 'rows found');
  await harmless(page);
  // The image outside the run's folder is refused, if the table came to show its row.
  const escapes = problems.filter(one => one.includes('etc%2Fpasswd'));
  equal(escapes.filter(one => !one.startsWith('403 ')).length, 0, 'nothing outside the folder is answered');
  problems.splice(0, problems.length, ...problems.filter(one => !escapes.includes(one)));
});

test('tables: the same rows at two steps', async ({page, open}) => {
  await open(logs(), '#tables');
  await eventually(() => page.locator('tbody tr').count(), 100, 'rows');
  await page.getByRole('button', {name: /^Step/}).click();
  await page.getByRole('option', {name: '2', exact: true}).click();
  await page.getByRole('button', {name: /^Compare with/}).click();
  await page.getByRole('option', {name: '1', exact: true}).click();
  await eventually(async () => (await page.locator('tbody .added').count()) > 50, true, 'what changed is marked');
  check(
    (await page.locator('tbody tr').nth(3).locator('.removed, .was').first().innerText()).length > 0,
    'what was before',
  );
});

test('tables: groups over the steps, another run, export', async ({page, open}) => {
  const twin = join(logs(), 'twin');
  mkdirSync(join(twin, 'tables'), {recursive: true});
  writeRun(logs(), 'twin', [[0, {loss: 1}]]);
  writeFileSync(join(twin, 'tables', 'rollouts.jsonl'), JSON.stringify({_step: 1, prompt: 'other', reward: 7}) + '\n');
  const select = async (label, option) => {
    await page.getByRole('button', {name: label}).click();
    await page.getByRole('option', {name: option, exact: true}).click();
  };
  await open(logs(), '#tables');
  await eventually(() => page.locator('tbody tr').count(), 100, 'rows');
  await select(/^Group by/, 'prompt');
  const group = page.getByRole('region', {name: 'Group question 5', exact: true});
  await group.waitFor();
  equal(await group.locator('.step').count(), 2, 'its steps stand side by side');
  check((await group.locator('.member').first().innerText()).includes('answer 5 at step 1'), 'with what each row says');
  await group.locator('.member').first().click();
  await page.locator('aside').getByText('answer 5 at step 1').waitFor();
  await harmless(page);
  const saved = page.waitForEvent('download');
  await page.getByRole('button', {name: /^Download these rows/}).click();
  equal((await saved).suggestedFilename(), 'r_rollouts.jsonl');
  await select(/^Group by/, 'none');
  await select(/^Compare with/, 'twin');
  await page.locator('tbody .was, tbody .removed').first().waitFor();
});

test('console: colours, search, earlier lines, hostile output', async ({page, open}) => {
  await open(logs(), '#console');
  const lines = page.locator('.line');
  await eventually(() => lines.count(), 500, 'the newest lines');
  equal(await page.locator('.line .c1').first().innerText(), 'Traceback', 'red text');
  check((await page.locator('.out').innerText()).includes('⟨U+202E⟩'), 'what turns text is visible');
  equal(await page.locator('.out a').count(), 0, 'no link of the log');
  await harmless(page);
  await page.getByLabel('Search output').fill('EPOCH 77');
  await eventually(() => lines.count(), 11, 'lines found'); // 77 and 770 … 779
  await page.getByLabel('Search output').fill('');
  await eventually(() => lines.count(), 500, 'all again');
  await page.getByRole('button', {name: 'Show earlier lines'}).click();
  await eventually(() => lines.count(), 1000, 'earlier lines');
});

test('system metrics on one time axis', async ({page, open}) => {
  await open(logs(), '#system');
  await eventually(() => page.locator('section.card').count(), 2, 'a card a metric');
});

test('alerts: a click shows the curve, an answer holds for everybody, a rule can be made', async ({page, open}) => {
  const rows = page.locator('tbody tr');
  const folder = logs();
  await open(folder, '#alerts');
  await eventually(async () => (await rows.innerText()).includes('loss is nan from step 7 on'), true, 'the alert');
  await page.getByRole('button', {name: 'loss is nan from step 7 on'}).click();
  await page.waitForFunction(() => location.hash.startsWith('#timeseries'));
  equal(await page.getByLabel('Filter tags').inputValue(), '^loss$', 'only its curve');
  await open(folder, '#alerts');
  await eventually(() => rows.count(), 1, 'the alert again');
  await page.getByRole('button', {name: 'Acknowledge'}).click();
  await eventually(() => rows.count(), 0, 'no open alert');
  await eventually(() => readFileSync(join(folder, '.sonde', 'sidecar.json'), 'utf8').includes('acknowledged'), true);
  await open(folder, '#alerts');
  await page.getByRole('radio', {name: 'Acknowledged 1'}).click();
  await page.getByRole('button', {name: 'Reopen'}).click();
  await page.getByRole('radio', {name: 'Open 1'}).click();
  await eventually(() => rows.count(), 1, 'open again');
  await page.getByRole('button', {name: 'Add rule'}).click();
  const form = page.getByRole('dialog');
  await form.getByLabel('Name').fill('low');
  await form.getByRole('button', {name: /^Alert when/}).click();
  await page.getByRole('option', {name: 'Expression'}).click();
  await form.getByRole('textbox', {name: 'Expression', exact: true}).fill('min(loss) < 0.1');
  await form.getByRole('button', {name: 'Save'}).click();
  await eventually(() => rows.count(), 2, 'what it says now');
  await page.getByRole('region', {name: 'Rules'}).getByRole('button', {name: 'Delete'}).click();
  await eventually(() => rows.count(), 1, 'without it');
});

test('console: from a traceback to the curves, from a line found to its neighbours', async ({page, open}) => {
  await open(logs(), '#console');
  await page.getByLabel('Search output').fill('epoch 600');
  await eventually(() => page.locator('.line').count(), 1, 'the line found');
  await page.getByRole('button', {name: 'Show in context'}).click();
  await eventually(
    async () => (await page.locator('.line.here').innerText()).includes('epoch 600'),
    true,
    'the line among others',
  );
  await page.getByRole('button', {name: 'Show later lines'}).click();
  await page.getByRole('button', {name: 'Curves at this moment'}).first().click();
  await page.waitForFunction(() => location.hash.startsWith('#timeseries'));
  await page.locator('.chip').filter({hasText: 'Traceback'}).waitFor();
  await harmless(page);
});
