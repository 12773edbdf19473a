// Two runs beside each other: their hyperparameters and the last, lowest and highest value of each metric.
import type {Cell, TableAnswer} from '../../data/types.ts';

export const MEASURES = ['last', 'min', 'max'] as const;

export interface ConfigRow {
  readonly name: string;
  readonly here: Cell;
  readonly there: Cell; // of the other run
  readonly differs: boolean;
}

export interface MetricRow {
  readonly tag: string;
  readonly here: readonly number[]; // by measure; NaN = none
  readonly there: readonly number[];
  readonly change: number; // of the last value; NaN where one is missing
}

export interface Comparison {
  readonly config: readonly ConfigRow[];
  readonly metrics: readonly MetricRow[];
}

export const columnsFor = (params: readonly string[], tags: readonly string[]): string[] => [
  'name',
  ...params.map(name => `hparam:${name}`),
  ...tags.flatMap(tag => MEASURES.map(measure => `metric:${tag}:${measure}`)),
];

const isMissing = (cell: Cell | undefined): boolean => cell === undefined || cell === null;
const numberOf = (cell: Cell | undefined): number =>
  cell === 'Infinity' ? Infinity : cell === '-Infinity' ? -Infinity : typeof cell === 'number' ? cell : NaN;

/** What a table of one or two runs says, without what neither has. `columns` are those asked for. */
export function compare(
  answer: TableAnswer,
  params: readonly string[],
  tags: readonly string[],
  here: string,
  there: string,
): Comparison {
  const names = answer.data[0] ?? [];
  const [a, b] = [names.indexOf(here), there === '' ? -1 : names.indexOf(there)];
  const cell = (column: number, row: number): Cell => (row < 0 ? null : (answer.data[column]?.[row] ?? null));
  const config = params.map((name, i): ConfigRow => {
    const [mine, other] = [cell(1 + i, a), cell(1 + i, b)];
    return {name, here: mine, there: other, differs: b >= 0 && JSON.stringify(mine) !== JSON.stringify(other)};
  });
  const metrics = tags.map((tag, i): MetricRow => {
    const first = 1 + params.length + i * MEASURES.length;
    const row = (at: number): number[] => MEASURES.map((_, k) => numberOf(cell(first + k, at)));
    const [mine, other] = [row(a), row(b)];
    return {tag, here: mine, there: other, change: mine[0]! - other[0]!};
  });
  return {
    config: config.filter(one => !isMissing(one.here) || !isMissing(one.there)),
    metrics: metrics.filter(one => [...one.here, ...one.there].some(value => !Number.isNaN(value))),
  };
}

/** Nested values as lines "a.b: text", for what a program says about itself. */
export function flatten(value: unknown, prefix = '', depth = 0): [string, string][] {
  if (value === null || value === undefined || value === '') return [];
  if (typeof value !== 'object') return [[prefix, String(value)]];
  if (depth > 8) return [[prefix, '…']];
  if (Array.isArray(value) && value.every(one => typeof one !== 'object'))
    return value.length === 0 ? [] : [[prefix, value.join(' ')]];
  return Object.entries(value).flatMap(([key, one]) =>
    flatten(one, prefix === '' ? key : `${prefix}.${key}`, depth + 1),
  );
}
