// The question a person types to find runs: `lr > 1e-3 and val_acc > 0.9 and not tag:broken`. Names are hyperparameters,
// metrics (last value, or min(…), max(…), mean(…), first(…)) and what every run has: name, start, duration, points,
// state, note, tag. Read once into a tree; asked of every run with a function that gives its values.
import type {Cell} from '../data/types.ts';

export const FIELDS = ['name', 'start', 'duration', 'points', 'state', 'note', 'tag'] as const;
export const FUNCTIONS = ['last', 'min', 'max', 'mean', 'first'] as const;

/** What a name means: a column of the table, or a field of the run. */
export type Resolve = (name: string, value: string | null) => string | null;
/** A value of the run at hand by column or field; lists are texts of which one may match. */
export type Lookup = (column: string) => Cell | readonly string[];

export interface RunQuery {
  readonly columns: readonly string[]; // that have to be loaded
  test(look: Lookup): boolean;
}

type Node = (look: Lookup) => boolean;
interface Token {
  readonly kind: 'word' | 'text' | 'op' | 'open' | 'close';
  readonly text: string;
  readonly at: number;
}

export class QueryError extends Error {}

const OPERATORS = ['>=', '<=', '!=', '==', '!~', '>', '<', '=', '~'];

function tokens(text: string): Token[] {
  const out: Token[] = [];
  let i = 0;
  while (i < text.length) {
    const c = text[i]!;
    if (/\s/.test(c)) {
      i++;
      continue;
    }
    if (c === '(' || c === ')') {
      out.push({kind: c === '(' ? 'open' : 'close', text: c, at: i++});
      continue;
    }
    if (c === '"' || c === "'" || c === '`') {
      const end = text.indexOf(c, i + 1);
      if (end < 0) throw new QueryError(`a ${c} is not closed`);
      out.push({kind: c === '`' ? 'word' : 'text', text: text.slice(i + 1, end), at: i});
      i = end + 1;
      continue;
    }
    const op = OPERATORS.find(one => text.startsWith(one, i));
    if (op !== undefined) {
      out.push({kind: 'op', text: op, at: i});
      i += op.length;
      continue;
    }
    let end = i;
    while (end < text.length && !/[\s()"'`<>=!~]/.test(text[end]!)) end++;
    if (end === i) throw new QueryError(`“${c}” has no meaning here`);
    out.push({kind: 'word', text: text.slice(i, end), at: i});
    i = end;
  }
  return out;
}

/** A query, or null when the text has no operator of one: then it is a name to look for. Throws a QueryError. */
export function parseQuery(text: string, resolve: Resolve): RunQuery | null {
  let list: Token[];
  try {
    list = tokens(text);
  } catch (problem) {
    if (/\s(and|or|not)\s|[<>]=?\s|\s[=~]/.test(text)) throw problem;
    return null;
  }
  const isQuery = list.some(
    token => token.kind === 'op' || (token.kind === 'word' && /^(tag|note|state):./.test(token.text)),
  );
  if (!isQuery) return null;
  const columns = new Set<string>();
  let at = 0;
  const peek = (): Token | undefined => list[at];
  const word = (text_: string): boolean => peek()?.kind === 'word' && peek()!.text.toLowerCase() === text_;
  const or = (): Node => {
    let left = and();
    while (word('or')) {
      at++;
      const [a, b] = [left, and()];
      left = look => a(look) || b(look);
    }
    return left;
  };
  const and = (): Node => {
    let left = not();
    while (word('and')) {
      at++;
      const [a, b] = [left, not()];
      left = look => a(look) && b(look);
    }
    return left;
  };
  const not = (): Node => {
    if (!word('not')) return primary();
    at++;
    const inner = not();
    return look => !inner(look);
  };
  const primary = (): Node => {
    const token = peek();
    if (token === undefined) throw new QueryError('something is missing at the end');
    if (token.kind === 'open') {
      at++;
      const inner = or();
      if (peek()?.kind !== 'close') throw new QueryError('missing )');
      at++;
      return inner;
    }
    if (token.kind !== 'word') throw new QueryError(`“${token.text}” needs a name before it`);
    at++;
    const field = /^(tag|note|state):(.+)$/.exec(token.text);
    if (field !== null) return contains(field[1]!, field[2]!);
    let name = token.text;
    let what: string | null = null;
    if (peek()?.kind === 'open') {
      if (!(FUNCTIONS as readonly string[]).includes(name)) throw new QueryError(`“${name}” is not a function`);
      what = name;
      at++;
      const inner = peek();
      if (inner?.kind !== 'word') throw new QueryError(`${what}( needs a metric`);
      name = inner.text;
      at++;
      if (peek()?.kind !== 'close') throw new QueryError('missing )');
      at++;
    }
    const column = resolve(name, what);
    if (column === null) throw new QueryError(`“${name}” is not a hyperparameter, a metric or a field of these runs`);
    const op = peek();
    if (op?.kind !== 'op') throw new QueryError(`“${name}” needs a comparison, for example ${name} > 0.9`);
    at++;
    const value = peek();
    if (value === undefined || (value.kind !== 'word' && value.kind !== 'text'))
      throw new QueryError(`a value is missing after ${op.text}`);
    at++;
    if (column.includes(':')) columns.add(column);
    return compare(column, op.text, value.text);
  };
  const tree = or();
  if (at < list.length) throw new QueryError(`“${list[at]!.text}” is not expected here; join conditions with and, or`);
  return {columns: [...columns], test: look => tree(look)};
}

function contains(field: string, text: string): Node {
  const wanted = text.toLowerCase();
  return look => {
    const value = look(field);
    return Array.isArray(value)
      ? value.some(one => String(one).toLowerCase() === wanted)
      : String(value ?? '')
          .toLowerCase()
          .includes(wanted);
  };
}

function compare(column: string, op: string, text: string): Node {
  if (op === '~' || op === '!~') {
    let re: RegExp;
    try {
      re = new RegExp(text, 'i');
    } catch {
      throw new QueryError(`${text} is not a valid regular expression`);
    }
    return look => texts(look(column)).some(one => re.test(one)) === (op === '~');
  }
  const wanted = numberOf(column, text);
  const lower = text.toLowerCase();
  return look => {
    const value = look(column);
    if (value === null || (typeof value === 'number' && Number.isNaN(value))) return op === '!=';
    if (typeof value === 'number' && Number.isFinite(wanted)) {
      switch (op) {
        case '>':
          return value > wanted;
        case '>=':
          return value >= wanted;
        case '<':
          return value < wanted;
        case '<=':
          return value <= wanted;
        case '!=':
          return !same(value, wanted);
        default:
          return same(value, wanted);
      }
    }
    const equal = texts(value).some(one => one.toLowerCase() === lower);
    return op === '!=' ? !equal : op === '=' || op === '==' ? equal : false;
  };
}

/** 0.1 as it was typed and as a 32-bit float are the same value. */
function same(a: number, b: number): boolean {
  return a === b || a === Math.fround(b) || Math.fround(a) === Math.fround(b);
}

function texts(value: Cell | readonly string[]): readonly string[] {
  return Array.isArray(value) ? (value as readonly string[]) : [value === null ? '' : String(value)];
}

/** Times may be written as a date, durations with a unit. */
function numberOf(column: string, text: string): number {
  if (column === 'start' && /^\d{4}-\d{2}-\d{2}/.test(text)) return new Date(text).getTime() / 1000;
  const unit = column === 'duration' ? /^([\d.]+)(s|min|m|h|d)$/.exec(text) : null;
  if (unit !== null) return Number(unit[1]) * {s: 1, m: 60, min: 60, h: 3600, d: 86400}[unit[2] as 's']!;
  return text.trim() === '' ? NaN : Number(text);
}

/** What the word at the end of `text` may become. */
export function completions(text: string, names: readonly string[]): {readonly from: number; readonly words: string[]} {
  const from = /[^\s()<>=!~]*$/.exec(text)!.index;
  const begun = text.slice(from).toLowerCase();
  if (begun === '') return {from, words: []};
  const all = [...names, ...FIELDS, ...FUNCTIONS.map(one => `${one}(`), 'and', 'or', 'not'];
  const words = [...new Set(all)].filter(one => one.toLowerCase().includes(begun) && one.toLowerCase() !== begun);
  words.sort((a, b) => Number(b.toLowerCase().startsWith(begun)) - Number(a.toLowerCase().startsWith(begun)));
  return {from, words: words.slice(0, 10)};
}
