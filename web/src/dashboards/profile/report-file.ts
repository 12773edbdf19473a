// A session as one HTML file to print, to mail or to keep: summary, findings, where a step goes, notes and the longest
// rows of every tool that has data. It needs no server, no script and no network.
import {plain, profileReport, profileTools, type Finding, type Report, type ReportTable} from '../../data/profile.ts';
import {numberOf} from '../../data/client.ts';
import {formatPicos} from '../../draw/trace/time-axis.ts';
import {safeName, saveFile} from '../../parts/clipboard.ts';
import {sidecar} from '../../state/sidecar.svelte.ts';
import {formatTime} from '../../text/format.ts';
import {t} from '../../text/messages.ts';
import {cellText, figureText, isAdaptive, unitText} from './cells.ts';
import {blocksOf} from '../../parts/markdown.ts';
import {partToken, readRows, stepParts, tokenColour} from './read.ts';
import {reportParameters} from './view.svelte.ts';

const MOST_ROWS = 25;
const MOST_COLUMNS = 12;
const LEFT_OUT = new Set(['xspace_digest', 'graph_viewer', 'trace_viewer']); // contents, programs, the trace itself

export const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

export function tableHtml(table: ReportTable): string {
  const columns = table.columns
    .map((column, at) => ({column, at}))
    .filter(({column}) => !['tooltip', 'source_stack', 'hlo_op_expression'].includes(column.id))
    .slice(0, MOST_COLUMNS);
  const head = columns
    .map(
      ({column}) =>
        `<th${column.type === 'number' ? ' class="n"' : ''}>${escaped([column.label || column.id, column.unit && !isAdaptive(column.unit) ? `(${unitText(column.unit)})` : ''].join(' ').trim())}</th>`,
    )
    .join('');
  const rows = table.rows
    .slice(0, MOST_ROWS)
    .map(
      row =>
        `<tr>${columns.map(({column, at}) => `<td${column.type === 'number' ? ' class="n"' : ''}>${escaped(cellText(plain(row[at] ?? null), column.unit))}</td>`).join('')}</tr>`,
    );
  const rest =
    table.total > MOST_ROWS
      ? `<p class="dim">${escaped(t('profile.file.rest', {n: MOST_ROWS, of: table.total}))}</p>`
      : '';
  return `<h3>${escaped(table.title || table.id)}</h3><table><thead><tr>${head}</tr></thead><tbody>${rows.join('')}</tbody></table>${rest}`;
}

/** Stacked bars of the steps. */
export function stepsSvg(table: ReportTable, colour: (label: string, i: number) => string): string {
  const rows = readRows(table).slice(0, 200);
  const parts = stepParts(table)
    .map((column, i) => ({
      label: column.label || column.id,
      colour: colour(column.label || column.id, i),
      values: rows.map(row => Math.max(0, row.number(column.id) || 0)),
    }))
    .filter(part => part.values.some(value => value > 0));
  const top = Math.max(1e-12, ...rows.map((_, i) => parts.reduce((sum, part) => sum + part.values[i]!, 0)));
  const [width, height, each] = [900, 180, 900 / Math.max(1, rows.length)];
  const bars = rows.flatMap((_, i) => {
    let y = height;
    return parts.map(part => {
      const tall = (part.values[i]! / top) * height;
      y -= tall;
      return `<rect x="${(i * each + each * 0.1).toFixed(1)}" y="${y.toFixed(1)}" width="${(each * 0.8).toFixed(1)}" height="${tall.toFixed(1)}" fill="${escaped(part.colour)}"/>`;
    });
  });
  const legend = parts.map(
    part =>
      `<span class="key"><svg width="10" height="10" aria-hidden="true"><rect width="10" height="10" fill="${escaped(part.colour)}"/></svg> ${escaped(part.label)}</span>`,
  );
  return `<svg role="img" aria-label="${escaped(t('profile.step_time'))}" viewBox="0 0 ${width} ${height}" width="100%" height="${height}" preserveAspectRatio="none">${bars.join('')}</svg><p>${legend.join(' ')}</p>`;
}

function findingHtml(one: Finding): string {
  const gain = one.gain_ps === undefined ? '' : `<b>−${escaped(formatPicos(numberOf(one.gain_ps)))}</b> `;
  return `<li>${gain}${escaped(one.text)}${one.action ? `<br><span class="dim">${escaped(one.action)}</span>` : ''}${one.change ? `<pre>${escaped(one.change.diff)}</pre>` : ''}</li>`;
}

function noteHtml(text: string): string {
  return blocksOf(text)
    .map(block => {
      const inside = block.spans
        .map(span =>
          span.kind === 'text'
            ? escaped(span.text)
            : span.kind === 'link'
              ? `<a href="${escaped(span.href!)}">${escaped(span.text)}</a>`
              : `<${span.kind}>${escaped(span.text)}</${span.kind}>`,
        )
        .join('');
      const name = {heading: 'h3', paragraph: 'p', item: 'li', step: 'li', code: 'pre'}[block.kind];
      return `<${name}>${inside}</${name}>`;
    })
    .join('');
}

const STYLE =
  'body{font:14px/1.45 system-ui,sans-serif;max-width:1000px;margin:24px auto;padding:0 16px;color:#1a1d21;background:#fff}h1{font-size:22px;margin:0}h2{font-size:17px;margin:28px 0 6px;border-bottom:1px solid #ccd}h3{font-size:14px;margin:14px 0 4px}table{border-collapse:collapse;font-size:12px;width:100%}th,td{border-bottom:1px solid #e3e5ea;padding:2px 6px;text-align:left;vertical-align:top;overflow-wrap:anywhere}.n{text-align:right;white-space:nowrap}.dim{color:#5c6370}.figures{display:flex;flex-wrap:wrap;gap:8px 28px;margin:8px 0}.figures b{display:block;font-size:20px}.key{margin-right:12px;white-space:nowrap}pre{background:#f3f4f7;padding:6px 8px;white-space:pre-wrap;overflow-wrap:anywhere}@media print{h2{break-after:avoid}tr,li{break-inside:avoid}body{margin:0}}';

/** The whole file out of reports; the first is the overview. */
export function reportHtml(
  title: string,
  session: string,
  note: string,
  reports: readonly Report[],
  now: string,
): string {
  const sections = reports.map(report => {
    const steps = report.tables.find(table => table.id === 'step_times');
    const figures = report.figures
      .filter(figure => figure.value !== null)
      .slice(0, 8)
      .map(figure => `<span>${escaped(figure.label)}<b>${escaped(figureText(figure.value, figure.unit))}</b></span>`);
    const fired = report.findings;
    const tables = report.tables.filter(
      table =>
        table.rows.length > 0 &&
        table.id !== 'diagnostics' &&
        !table.id.startsWith('curve_') &&
        table.id !== 'timeline',
    );
    return `<h2>${escaped(report.title)}</h2><div class="figures">${figures.join('')}</div>${steps === undefined || steps.rows.length === 0 ? '' : stepsSvg(steps, (label, i) => tokenColour(partToken(label, i)))}${fired.length === 0 ? '' : `<h3>${escaped(t('profile.findings'))}</h3><ol>${fired.map(findingHtml).join('')}</ol>`}${tables.map(tableHtml).join('')}`;
  });
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escaped(title)}</title><style>${STYLE}</style></head><body><h1>${escaped(title)}</h1><p class="dim">${escaped(session)} · ${escaped(t('profile.file.made', {time: now}))}</p>${note === '' ? '' : `<h2>${escaped(t('profile.info.note'))}</h2>${noteHtml(note)}`}${sections.join('')}</body></html>\n`;
}

export async function saveReport(session: string, host: string, title: string): Promise<void> {
  const {tools} = await profileTools(session);
  const wanted = tools.filter(tool => tool.has_data && !LEFT_OUT.has(tool.id)).map(tool => tool.id);
  const order = ['overview_page', ...wanted.filter(id => id !== 'overview_page')];
  const reports: Report[] = [];
  for (const tool of order) reports.push(await profileReport(session, tool, host, '', undefined, reportParameters()));
  saveFile(
    `${safeName(title)}.html`,
    new Blob(
      [
        reportHtml(
          title,
          session,
          sidecar.doc.sessions?.[session]?.note ?? '',
          reports.filter(report => report.missing.length === 0),
          formatTime(Date.now() / 1000),
        ),
      ],
      {type: 'text/html'},
    ),
  );
}
