import {expect, test} from 'vitest';
import {openFusions, parseHlo} from './hlo.ts';

const TEXT = `HloModule m

%fused (p0: f32[4], p1: f32[4]) -> f32[4] {
  %p0 = f32[4]{0} parameter(0)
  %p1 = f32[4]{0} parameter(1)
  %mul = f32[4]{0} multiply(f32[4]{0} %p0, f32[4]{0} %p1)
  ROOT %add = f32[4]{0} add(f32[4]{0} %mul, f32[4]{0} %p1)
}

ENTRY %main (a: f32[4], b: f32[4]) -> f32[4] {
  %a = f32[4]{0} parameter(0)
  %b = f32[4]{0} parameter(1)
  %f1 = f32[4]{0} fusion(f32[4]{0} %a, f32[4]{0} %b), kind=kLoop, calls=%fused
  ROOT %f2 = f32[4]{0} fusion(f32[4]{0} %f1, f32[4]{0} %b), kind=kLoop, calls=%fused
}
`;

test('fusions are replaced by what they are made of, each with names of its own', () => {
  const all = parseHlo(TEXT);
  const main = all.find(one => one.entry)!;
  const opened = openFusions(main.instructions, all);
  expect(opened.map(one => [one.name, one.op, one.operands])).toEqual([
    ['a', 'parameter', []],
    ['b', 'parameter', []],
    ['f1/mul', 'multiply', ['a', 'b']],
    ['f1/add', 'add', ['f1/mul', 'b']],
    ['f2/mul', 'multiply', ['f1/add', 'b']],
    ['f2/add', 'add', ['f2/mul', 'b']],
  ]);
  expect(opened.filter(one => one.root).map(one => one.name)).toEqual(['f2/add']);
});
