import {expect, test} from 'vitest';
import {foldPlumbing, parseHlo} from './hlo.ts';
import {layOut} from './layers.ts';

const SIZES = {columns: 4, width: 100, height: 40, gap: 20, between: 30};

test('a box stands below everything that leads to it, inputs right above their use', () => {
  const {at} = layOut(
    ['a', 'b', 'c', 'd'],
    [
      {from: 'a', to: 'b'},
      {from: 'b', to: 'd'},
      {from: 'a', to: 'd'},
      {from: 'c', to: 'd'},
    ],
    SIZES,
  );
  expect([...at].map(([id, place]) => [id, place.row])).toEqual([
    ['a', 0],
    ['b', 1],
    ['c', 1],
    ['d', 2],
  ]);
});

test('a wide layer is wrapped, boxes never overlap, and the picture is as wide as its columns', () => {
  const leaves = Array.from({length: 30}, (_, i) => `leaf${i}`);
  const {at, paths, width} = layOut(
    ['root', ...leaves, 'end'],
    [...leaves.map(to => ({from: 'root', to})), ...leaves.map(from => ({from, to: 'end'}))],
    SIZES,
  );
  expect(at.get('end')!.row).toBe(9); // 30 leaves in rows of 4
  expect(width).toBeLessThan(4 * 120 + 30 * 9 + 100); // and a lane for each leaf above the last row
  const places = [...at.values()];
  for (const a of places)
    for (const b of places) if (a !== b && a.row === b.row) expect(Math.abs(a.x - b.x)).toBeGreaterThanOrEqual(100);
  expect(paths.every(path => path.startsWith('M'))).toBe(true);
});

test('a long wire keeps clear of the boxes of the rows it passes', () => {
  const {at, paths} = layOut(
    ['a', 'b', 'c', 'd'],
    [
      {from: 'a', to: 'b'},
      {from: 'b', to: 'c'},
      {from: 'c', to: 'd'},
      {from: 'a', to: 'd'},
    ],
    SIZES,
  );
  const lane = Number(/ ([\d.]+) [\d.]+V/.exec(paths[3]!)![1]);
  expect(lane < at.get('b')!.x || lane > at.get('b')!.x + 100).toBe(true);
});

test('a cycle is cut, and no two boxes share a place', () => {
  const {at} = layOut(
    ['a', 'b', 'c'],
    [
      {from: 'a', to: 'b'},
      {from: 'b', to: 'a'},
      {from: 'b', to: 'c'},
    ],
    SIZES,
  );
  expect(new Set([...at.values()].map(place => `${place.row}/${place.x}`)).size).toBe(3);
});

test('HLO text gives instructions with their operands and called computations', () => {
  const parsed = parseHlo(
    'HloModule m\n\n%fused {\n  %p = f32[4]{0} parameter(0)\n  ROOT %n = f32[4]{0} negate(%p)\n}\n\nENTRY %main {\n  %a = f32[4]{0} parameter(0)\n  ROOT %f = f32[4]{0} fusion(%a), kind=kLoop, calls=%fused, metadata={op_name="neg"}\n}\n',
  );
  expect(parsed.map(one => [one.name, one.entry, one.instructions.map(i => i.name)])).toEqual([
    ['fused', false, ['p', 'n']],
    ['main', true, ['a', 'f']],
  ]);
  const fusion = parsed[1]!.instructions[1]!;
  const short = parseHlo(
    'ENTRY main.2 {\n  key.1 = u32[2]{0} parameter(0)\n  c = u32[4]{0} constant({13, 15, 26, 6})\n  ROOT f.1 = u32[] fusion(key.1, (u32[4]{0}, s32[]) c), kind=kLoop, calls=fused.19\n}\n',
  )[0]!;
  expect(short.instructions.map(one => one.operands)).toEqual([[], [], ['key.1', 'c']]);
  expect(short.instructions[2]!.calls).toEqual(['fused.19']);
  expect([fusion.op, fusion.shape, fusion.operands, fusion.calls, fusion.root]).toEqual([
    'fusion',
    'f32[4]{0}',
    ['a'],
    ['fused'],
    true,
  ]);
});

test('constants fold into their users, elements of tuples into the wire', () => {
  const all = parseHlo(
    'ENTRY %m {\n  %c = s32[] constant(1)\n  %t = (f32[2]{0}, f32[2]{0}) while(%c)\n  %e = f32[2]{0} get-tuple-element(%t), index=0\n  ROOT %n = f32[2]{0} add(%e, %c)\n}\n',
  )[0]!.instructions;
  const folded = foldPlumbing(all);
  expect(folded.shown.map(one => one.name)).toEqual(['t', 'n']);
  expect(folded.wires).toEqual([{from: 't', to: 'n'}]);
  expect([folded.constants.get('t'), folded.constants.get('n')]).toEqual([1, 1]);
});
