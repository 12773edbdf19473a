// What a saved page holds of images, histograms, texts and tables: of each run the step on which the page stands.
import {client} from '../../data/client.ts';
import {loadHistograms} from '../../data/histograms.ts';
import {blobPath, mediaItems, mediaSteps, type StepList} from '../../data/media.ts';
import type {Panel, PanelPage} from '../../data/pages.ts';
import {answerKey, textBytes, type Answers} from '../../data/recorded.ts';
import {listTables, loadRows} from '../../data/run-files.ts';
import {loadTexts, textSteps} from '../../data/text.ts';
import type {Run} from '../../data/types.ts';
import {cursor, indexAt} from '../../state/media.svelte.ts';
import {MOST_MEDIA_RUNS, runsOf} from '../../state/pages.svelte.ts';
import {tagHasRun, tags} from '../../state/tags.svelte.ts';
import {t} from '../../text/messages.ts';
import {BINS, STEPS} from '../../state/histogram-series.svelte.ts';
import {isMedia, tagKindOf} from './media-kinds.ts';

const MOST_BLOBS = 1_100_000; // bytes of images; the file has at most 2 MB
const PAGE = 50; // items of one answer, as the page asks for them
const TABLE_ROWS = 50;

interface Keep {
  readonly answers: Answers;
  blobs: number; // bytes so far
}

const keyOf = (path: string, query: Readonly<Record<string, string | number>>): string =>
  client().url(path, query).slice(client().base.href.length);
const oneStep = (list: StepList, at: number): unknown => ({steps: [list.steps[at]], walls: [list.walls[at]]});

async function keepImage(keep: Keep, run: Run, tag: string): Promise<void> {
  const list = await mediaSteps(run.name, tag);
  const at = indexAt(list.steps, cursor.step);
  if (at < 0) return;
  const [item] = await mediaItems(run.name, tag, at, 1);
  const sample = item?.samples[0];
  if (item === undefined) return;
  let kept: unknown = item;
  if (sample !== undefined && keep.blobs + sample.bytes > MOST_BLOBS)
    kept = {...item, samples: [], damage: t('panels.image_too_large')};
  else if (sample !== undefined) {
    const bytes = new Uint8Array(await (await client().raw(blobPath(sample.ref))).arrayBuffer());
    keep.blobs += bytes.length;
    keep.answers.set(blobPath(sample.ref), bytes);
    kept = {...item, samples: [sample]};
  }
  keep.answers.set(keyOf('media', {run: run.name, tag, steps: 1}), textBytes(oneStep(list, at)));
  keep.answers.set(keyOf('media', {run: run.name, tag, from: 0, count: PAGE}), textBytes({items: [kept]}));
}

async function keepText(keep: Keep, run: Run, tag: string): Promise<void> {
  const list = await textSteps(run.name, tag);
  const at = indexAt(list.steps, cursor.step);
  if (at < 0) return;
  const page = await loadTexts({run: run.name, tag, from: at, count: 1, raw: false});
  keep.answers.set(keyOf('text', {run: run.name, tag, steps: 1}), textBytes(oneStep(list, at)));
  keep.answers.set(keyOf('text', {run: run.name, tag, from: 0, count: 1, render: 'html'}), textBytes(page));
}

async function keepHistogram(keep: Keep, run: Run, tag: string): Promise<void> {
  const question = {range: null, run: run.name, tag, steps: STEPS, bins: BINS};
  await loadHistograms(question); // says in words what is wrong with it
  const answer = await client().raw('histograms', {
    method: 'POST',
    headers: {'Content-Type': 'application/json'},
    body: JSON.stringify(question),
  });
  keep.answers.set(answerKey('histograms', question), new Uint8Array(await answer.arrayBuffer()));
}

async function keepTable(keep: Keep, run: Run, table: string): Promise<void> {
  const names = await listTables();
  keep.answers.set('tables', textBytes({tables: names}));
  if (!names.some(one => one.run === run.name && one.name === table)) return;
  const all = {run: run.name, table, offset: 0, limit: 1};
  const answer = await loadRows(all);
  const steps = Float64Array.from(answer.steps).sort();
  const step = steps[indexAt(steps, cursor.step)];
  if (step === undefined) return;
  const some = {run: run.name, table, step, offset: 0, limit: TABLE_ROWS};
  keep.answers.set(answerKey('tables/rows', all), textBytes({...answer, steps: [step]}));
  keep.answers.set(answerKey('tables/rows', some), textBytes(await loadRows(some)));
}

async function keepPanel(keep: Keep, page: PanelPage, panel: Panel): Promise<void> {
  const name = panel.y?.[0] ?? '';
  const kind = tagKindOf(panel.kind);
  const tag = kind === null ? undefined : tags.find(kind, name);
  const having = runsOf(page).runs.filter(run => kind === null || (tag !== undefined && tagHasRun(tag, run.id)));
  const take = {image: keepImage, histogram: keepHistogram, words: keepText, table: keepTable};
  for (const run of having.slice(0, MOST_MEDIA_RUNS)) await take[panel.kind as keyof typeof take](keep, run, name);
}

/** Adds what the page's media panels ask for. */
export async function keepMedia(page: PanelPage, answers: Answers): Promise<void> {
  const keep: Keep = {answers, blobs: 0};
  for (const panel of page.panels) if (isMedia(panel.kind)) await keepPanel(keep, page, panel);
}
