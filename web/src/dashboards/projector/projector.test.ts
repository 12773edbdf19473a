import {expect, test} from 'vitest';
import type {LabelColumn, Positions} from '../../data/embeddings.ts';
import type {ThemeColours} from '../../draw/theme-colours.ts';
import {readBookmarks, stateOf} from './bookmarks.ts';
import {closeness, coloursOf, marked} from './colours.ts';
import {findRows, testerOf} from './search.ts';
import type {ProjectorView} from './view.svelte.ts';

const column = (values: readonly string[], numbers = false): LabelColumn => {
  const words = [...new Set(values)];
  return {
    name: 'c',
    type: numbers ? 'number' : 'text',
    words,
    codes: Uint32Array.from(values.map(v => words.indexOf(v))),
    values: numbers ? Float64Array.from(values.map(v => (v === '' ? NaN : Number(v)))) : null,
  };
};
const themed = {dark: false, text3: '#888888', accent: '#0000ff', lineStrong: '#cccccc'} as ThemeColours;

test('search: text anywhere without regard to case, expressions, several columns', () => {
  const columns = [column(['Otter', 'heron', 'lynx']), column(['1', '2', 'otterish'])];
  expect(findRows(columns, 3, testerOf('OTTER', false)!)).toEqual([0, 2]);
  expect(findRows(columns.slice(0, 1), 3, testerOf('^.e', true)!)).toEqual([1]);
  expect(testerOf('(', true)).toBeNull();
});

test('colours: the commonest value first, numbers with many values as a gradient', () => {
  const few = coloursOf(4, column(['b', 'a', 'a', '']), false, themed);
  expect(few.legend.kind === 'words' && few.legend.rows.map(r => [r.word, r.count])).toEqual([
    ['a', 2],
    ['b', 1],
    ['', 1],
  ]);
  expect(few.bytes.slice(4, 8)).toEqual(few.bytes.slice(8, 12));
  const many = Array.from({length: 60}, (_, i) => (i === 3 ? '' : String(i)));
  const ramp = coloursOf(60, column(many, true), false, themed);
  expect(ramp.legend).toEqual({kind: 'gradient', min: 0, max: 59, missing: 1});
  expect(coloursOf(60, column(many, true), true, themed).legend.kind).toBe('words');
});

test('what is chosen stands out, the rest steps back', () => {
  const base = new Uint8Array(12).fill(200);
  const {colours, sizes} = marked(
    base,
    Uint32Array.from([2, 0, 1]),
    {chosen: new Set([0]), point: 2, near: new Map()},
    themed,
  );
  expect([...colours.slice(0, 3)]).toEqual([0, 0, 255]);
  expect(colours[7]).toBe(200);
  expect(colours[11]).toBeLessThan(200);
  expect(sizes[0]).toBeGreaterThan(sizes[1]!);
  expect(sizes[1]).toBeGreaterThan(sizes[2]!);
});

test('closeness counts as in TensorBoard', () => {
  expect(closeness(0.25, 0.1, 'cosine')).toBe(0.75);
  expect(closeness(4, 2, 'euclidean')).toBe(0.5);
});

test('bookmarks: what is saved comes back; those of other vectors are refused; TensorBoard files are read', () => {
  const view = {
    method: 'tsne',
    dims: 2,
    perplexity: 7,
    components: [0, 1, 2],
    rate: 0,
    custom: {column: '', left: 'a', right: '', up: '', down: '', regex: false},
    only: [],
    point: 3,
    picked: [],
    colour: 'c',
  } as unknown as ProjectorView;
  const positions = {
    kind: 'tsne',
    rows: 2,
    columns: 2,
    iteration: 9,
    values: Float32Array.from([1, 2, 3, 4]),
  } as Positions;
  const file = JSON.parse(JSON.stringify([stateOf('mine', view, [2, 5], positions)])) as Record<string, unknown>[];
  const [back] = readBookmarks(file, [2, 5]);
  expect(back!.label).toBe('mine');
  expect(back!.view.perplexity).toBe(7);
  expect([...back!.values!.data]).toEqual([1, 2, 3, 4]);
  expect(() => readBookmarks(file, [3, 5])).toThrow('wrong_shape');
  expect(() => readBookmarks(['x'], [2, 5])).toThrow();
  const {sonde: _, ...foreign} = file[0]!;
  const read = readBookmarks([foreign], [2, 5])[0]!;
  expect([read.view.method, read.view.dims, read.view.point]).toEqual(['tsne', 2, 3]);
});
