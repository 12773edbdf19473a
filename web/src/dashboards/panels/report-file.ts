// A page as one HTML file: the page's own drawing code, the answers it draws and nothing that must be fetched.
import {client} from '../../data/client.ts';
import {answerKey, leanColumns, packAnswers, textBytes, type Answers} from '../../data/recorded.ts';
import type {PanelPage} from '../../data/pages.ts';
import type {ColumnsQuestion, RunsAnswer, Sidecar, TableAnswer, TagsAnswer} from '../../data/types.ts';
import {safeName, saveFile} from '../../parts/clipboard.ts';
import {questionOf} from '../../state/line-question.ts';
import {linkedStep} from '../../state/linked.svelte.ts';
import {live} from '../../state/live.svelte.ts';
import {linesOf, panelsView, runsOf, valueColumns} from '../../state/pages.svelte.ts';
import {runs, runsView, tableQuestion, viewColumns} from '../../state/runs.svelte.ts';
import {sidecar} from '../../state/sidecar.svelte.ts';
import {tags} from '../../state/tags.svelte.ts';
import {formatTime} from '../../text/format.ts';
import {t} from '../../text/messages.ts';
import {keepMedia} from './report-media.ts';

const LARGEST = 2_000_000; // bytes of the file; charts get coarser until it fits
const WIDTHS = [1600, 800, 400, 200, 100]; // px of a chart, finest first

/** The questions of the page's charts at a width. */
function questionsOf(page: PanelPage, width: number): ColumnsQuestion[] {
  return page.panels
    .filter(panel => panel.kind === 'line')
    .flatMap(panel => {
      const wish = {range: null, width, fine: true};
      const grouped = runs.groups.length > 0;
      return [
        questionOf(linesOf(page, panel), {...wish, grouped: false}),
        grouped ? questionOf(linesOf(page, panel), {...wish, grouped: true}) : null,
      ].filter(one => one !== null);
    });
}

/** Only what the page shows goes into the file: its runs, its tags, their notes. */
async function small(id: string, page: PanelPage, answers: Answers): Promise<void> {
  const {runs: shown} = runsOf(page);
  const used = new Set(page.panels.flatMap(panel => panel.y ?? []));
  const names = new Set(shown.map(run => run.name));
  const runsAnswer: RunsAnswer = {boot: runs.boot, rev: runs.rev, runs: shown, removed: []};
  const tagsAnswer: TagsAnswer = {rev: 0, tags: tags.all.filter(tag => used.has(tag.name))};
  const doc: Sidecar = {
    sonde: 1,
    runs: Object.fromEntries(Object.entries(sidecar.doc.runs ?? {}).filter(([name]) => names.has(name))),
    annotations: (sidecar.doc.annotations ?? []).filter(one => one.tag === undefined || used.has(one.tag)),
    ...(sidecar.doc.settings === undefined ? {} : {settings: sidecar.doc.settings}),
    pages: {[id]: page},
  };
  answers.set('info', textBytes({title: live.info?.title ?? '', logdir: '', version: '', boot: runs.boot, rev: 0}));
  answers.set('runs', textBytes(runsAnswer));
  answers.set('tags', textBytes(tagsAnswer));
  answers.set('sidecar', textBytes(doc));
  // The report asks for two sets of columns: what its panels show, and what orders and groups its runs.
  for (const columns of [valueColumns(page), viewColumns()]) {
    if (columns.length === 0) continue;
    const body = tableQuestion(columns);
    answers.set(answerKey('table', body), textBytes(await client().ask<TableAnswer>('table', body)));
  }
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
/** As the content of a script element: nothing in it may end the element. */
const inScript = (text: string): string => text.replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--');

/** What the file restores beside the page: where it is zoomed, how runs are grouped, sorted and coloured. */
function viewOf(): Record<string, unknown> {
  const {group, colour, sort} = runsView;
  return {panels: plainOf(panelsView), runs: {group, colour, sort}, link: plainOf(linkedStep)};
}
const plainOf = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

async function htmlOf(title: string, answers: Answers): Promise<string> {
  const part = async (name: string): Promise<string> => {
    const answer = await fetch(new URL(`report/${name}`, document.baseURI));
    if (!answer.ok) throw new Error(t('panels.no_viewer'));
    return answer.text();
  };
  const [script, style] = [await part('report.js'), await part('report.css')];
  const policy =
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; media-src data: blob:";
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>${escaped(title)}</title><style>${style}</style></head>
<body><div id="app"></div>
<script type="application/json" id="about">${inScript(JSON.stringify({title, made: formatTime(Date.now() / 1000), view: viewOf()}))}</script>
<script type="text/plain" id="answers">${await packAnswers(answers)}</script>
<script>${inScript(script)}</script></body></html>
`;
}

/** The file as text, at the finest resolution that keeps it small. */
export async function reportHtml(id: string, page: PanelPage): Promise<string> {
  const answers: Answers = new Map();
  await small(id, page, answers);
  await keepMedia(page, answers);
  let html = '';
  for (const width of WIDTHS) {
    for (const question of questionsOf(page, width)) {
      const answer = await client().raw('columns', {
        method: 'POST',
        headers: {'Content-Type': 'application/json'},
        body: JSON.stringify(question),
      });
      answers.set(answerKey('columns', question), leanColumns(await answer.arrayBuffer()));
    }
    html = await htmlOf(page.title, answers);
    if (html.length <= LARGEST) break;
  }
  return html;
}

export async function saveReport(id: string, page: PanelPage): Promise<{bytes: number}> {
  const file = new Blob([await reportHtml(id, page)], {type: 'text/html'});
  saveFile(`${safeName(page.title)}.html`, file);
  return {bytes: file.size};
}
