import {expect, test} from 'vitest';
import {layers} from './layers.ts';
import {parseHlo} from './hlo.ts';

test('a node stands below everything that leads to it, inputs right above their use', () => {
  const places = layers(['a', 'b', 'c', 'd'], [{from: 'a', to: 'b'}, {from: 'b', to: 'd'}, {from: 'a', to: 'd'}, {from: 'c', to: 'd'}]);
  expect([...places].map(([id, place]) => [id, place.layer])).toEqual([['a', 0], ['b', 1], ['c', 1], ['d', 2]]);
});

test('a cycle is cut, and no two nodes share a place', () => {
  const places = layers(['a', 'b', 'c'], [{from: 'a', to: 'b'}, {from: 'b', to: 'a'}, {from: 'b', to: 'c'}]);
  expect(new Set([...places.values()].map((place) => `${place.layer}/${place.column}`)).size).toBe(3);
});

test('HLO text gives instructions with their operands and called computations', () => {
  const parsed = parseHlo('HloModule m\n\n%fused {\n  %p = f32[4]{0} parameter(0)\n  ROOT %n = f32[4]{0} negate(%p)\n}\n\nENTRY %main {\n  %a = f32[4]{0} parameter(0)\n  ROOT %f = f32[4]{0} fusion(%a), kind=kLoop, calls=%fused, metadata={op_name="neg"}\n}\n');
  expect(parsed.map((one) => [one.name, one.entry, one.instructions.map((i) => i.name)])).toEqual([['fused', false, ['p', 'n']], ['main', true, ['a', 'f']]]);
  const fusion = parsed[1]!.instructions[1]!;
  expect([fusion.op, fusion.shape, fusion.operands, fusion.calls, fusion.root]).toEqual(['fusion', 'f32[4]{0}', ['a'], ['fused'], true]);
});
