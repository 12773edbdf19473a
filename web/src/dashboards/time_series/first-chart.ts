// The first chart, drawn with the answers that came with the page before the shell is put up: plain elements in the
// shell's places, the same drawing code. It stays until the shell has painted the chart itself.
import {embeddedColumns} from '../../data/embedded-answers.ts';
import {decodeColumns} from '../../data/columns.ts';
import {createChart} from '../../draw/chart.ts';
import {preferences, NARROW, panelWidthIn} from '../../state/preferences.svelte.ts';
import {inspector} from '../../state/inspector.svelte.ts';
import {lineModel, lineSeries} from '../../state/line-model.ts';
import {questionOf} from '../../state/line-question.ts';
import {stateOf} from '../../state/line-text.ts';
import {setPlaceholder} from '../../state/first-paint.svelte.ts';
import {runs} from '../../state/runs.svelte.ts';
import {tagHasRun, tags} from '../../state/tags.svelte.ts';
import {applyTheme, theme} from '../../state/theme.svelte.ts';
import {tab} from '../../state/view.svelte.ts';
import {headAndTail} from '../../text/format.ts';
import {loadPins} from './pins.ts';
import {openSections, sectionName, sectionsOf, type CardSpec, type Section} from './sections.ts';
import {linesOf, view, zoomOf} from './settings.svelte.ts';

const TABS = ['', 'timeseries', 'scalars']; // those of entry.ts, which would bring the components into the first file
const LOWEST = 480; // px; the shell of a lower window looks different
const RAIL = 32; // px, of a closed run panel

interface Page {
  readonly root: HTMLElement;
  readonly plot: HTMLElement;
  readonly state: HTMLElement; // the card's, in small letters
}

/** Whether the chart was painted; if not, the shell had better draw it. */
export async function drawFirstChart(): Promise<boolean> {
  const section = document.hidden ? undefined : leadingSection();
  if (section === undefined) return false;
  const card = section.cards[0]!;
  applyTheme();
  const page = pageOf(section, card);
  document.body.append(page.root);
  const painted = paint(card, page);
  if (painted === null) {
    page.root.remove();
    return false;
  }
  setPlaceholder(() => page.root.remove());
  await Promise.race([painted, hidden()]);
  return true;
}

/** The section whose first card is the first thing on the page, when everything is as it is at the start. */
function leadingSection(): Section | undefined {
  const atHome = TABS.includes(tab.id) && innerHeight >= LOWEST;
  const plain =
    view.filter === '' &&
    view.combos.length === 0 &&
    view.pins.length === 0 &&
    !(preferences.savePins && loadPins().length > 0);
  if (!atHome || !plain || runs.groups.length > 0) return undefined;
  const scalars = tags.ofKind('scalar');
  const sections = sectionsOf(
    view.hideEmpty ? scalars.filter(tag => runs.shown.some(run => tagHasRun(tag, run.id))) : scalars,
  );
  const [first] = sections;
  if (first === undefined || view.cards[first.cards[0]!.key] !== undefined) return undefined;
  return openSections(view.folds, sectionsOf(scalars)).has(first.id) ? first : undefined;
}

/** Null when the columns that came answer another question. */
function paint(card: CardSpec, {plot, state}: Page): Promise<void> | null {
  const [width, height] = [plot.clientWidth, plot.clientHeight];
  const lines = linesOf(card);
  const question = questionOf(lines, {range: null, grouped: false, width, fine: false});
  const zoom = zoomOf(card.key);
  const bytes = question === null || zoom.x !== null ? undefined : embeddedColumns('columns', question);
  if (bytes === undefined) return null;
  const loaded = {columns: decodeColumns(bytes), range: null};
  const model = lineModel(lines, lineSeries(lines, loaded, null), {
    whole: loaded,
    shown: [loaded],
    zoom,
    labels: false,
  });
  const [base, over] = [element('canvas', 'layer'), element('canvas', 'layer')];
  plot.append(base, over);
  return new Promise(resolve => {
    const chart = createChart(base, over, () => {
      state.textContent = stateOf(lines.settings, false, model.series);
      plot.dataset['chart'] = 'ready';
      resolve();
    });
    chart.draw(model, width, height, theme.colours, true);
  });
}

/** The page as the shell will build it, as far as the first chart needs it to stand in its place. */
function pageOf(section: Section, card: CardSpec): Page {
  const [plot, state, chevron] = [element('div', 'plot'), element('span', 'u'), element('span', 'chevron')];
  const [start, tail] = headAndTail(card.title);
  const head = element(
    'header',
    '',
    element('h3', '', element('span', 'clip', start), element('span', 'tail', tail)),
    state,
  );
  const cards = element('div', 'cards', element('section', 'card', head, element('div', 'field-of-plot', plot)));
  cards.style.setProperty('--card-min', `${preferences.cardMin}px`);
  for (let i = 1; i < Math.min(section.cards.length, preferences.pageSize); i++)
    cards.append(element('div', 'card soon'));
  const body = element(
    'div',
    'body',
    element('div', 'bar'),
    element('div', 'scroll', element('div', 'sect', chevron, element('h2', '', sectionName(section))), cards),
  );
  const main = element('main', '', body, ...(inspector.open ? [element('aside', 'insp')] : []));
  const panel = element('div', 'panel');
  panel.style.width = `${panelWidthIn(innerWidth) || RAIL}px`;
  const root = element(
    'div',
    'first',
    element('header', 'hdr'),
    element('div', 'main', ...(innerWidth < NARROW ? [] : [panel]), main),
  );
  root.ariaHidden = 'true';
  return {root, plot, state};
}

/** A window that is hidden paints nothing more. */
function hidden(): Promise<void> {
  return new Promise(resolve => document.addEventListener('visibilitychange', () => resolve(), {once: true}));
}

function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  className: string,
  ...inside: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  made.className = className;
  made.append(...inside);
  return made;
}
