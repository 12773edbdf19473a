// Pure rules of custom charts: merging categories, which tags a chart means, what is wrong with it.
import type {LayoutCategory, LayoutChart, MarginSeries} from '../../data/layouts.ts';
import {compile} from '../../state/groups.ts';

export interface ShownChart {
  readonly chart: LayoutChart;
  /** Place in the user's own layouts; null for charts that a run brought along. */
  readonly own: {readonly category: number; readonly chart: number} | null;
}

export interface ShownCategory {
  readonly title: string;
  readonly closed: boolean;
  readonly charts: readonly ShownChart[];
}

/** Categories of runs, then the user's own; equal titles become one, open if any of them is. Runs often bring
 *  the same layout: of equally titled charts the first counts; the user's own are all kept. */
export function mergeLayouts(fromRuns: readonly LayoutCategory[], own: readonly LayoutCategory[]): ShownCategory[] {
  const out = new Map<string, {title: string; closed: boolean; charts: ShownChart[]}>();
  const add = (category: LayoutCategory, charts: ShownChart[]): void => {
    const known = out.get(category.title);
    if (known === undefined) out.set(category.title, {title: category.title, closed: category.closed === true, charts});
    else {
      known.closed &&= category.closed === true;
      known.charts.push(
        ...charts.filter(one => one.own !== null || !known.charts.some(other => other.chart.title === one.chart.title)),
      );
    }
  };
  for (const category of fromRuns)
    add(
      category,
      category.charts.map(chart => ({chart, own: null})),
    );
  own.forEach((category, i) =>
    add(
      category,
      category.charts.map((chart, k) => ({chart, own: {category: i, chart: k}})),
    ),
  );
  return [...out.values()];
}

/** Tags that any expression matches from their first letter on, in the order of the tags. */
export function matchingTags(
  expressions: readonly string[],
  tags: readonly string[],
): {tags: string[]; broken: string[]} {
  const patterns = expressions.map(source => ({source, re: compile(`^(?:${source})`)}));
  const good = patterns.flatMap(({re}) => (re === null ? [] : [re]));
  return {
    tags: tags.filter(tag => good.some(re => re.test(tag))),
    broken: patterns.filter(({re}) => re === null).map(({source}) => source),
  };
}

export const marginTags = (series: readonly MarginSeries[]): string[] => [
  ...new Set(series.flatMap(({value, lower, upper}) => [value, lower, upper])),
];

/** The user's layouts with one chart put in, replaced (`at`) or taken out (`chart` null). Empty categories go. */
export function withChart(
  own: readonly LayoutCategory[],
  category: string,
  chart: LayoutChart | null,
  at: ShownChart['own'],
): LayoutCategory[] {
  const without = own.map((one, i) =>
    at?.category === i ? {...one, charts: one.charts.filter((_, k) => k !== at.chart)} : one,
  );
  if (chart !== null) {
    // A chart that stays in its category keeps its place there.
    const here = without.findIndex(one => one.title === category);
    if (here < 0) without.push({title: category, closed: false, charts: [chart]});
    else {
      const place = at?.category === here ? at.chart : without[here]!.charts.length;
      without[here] = {...without[here]!, charts: without[here]!.charts.toSpliced(place, 0, chart)};
    }
  }
  return without.filter(one => one.charts.length > 0);
}
