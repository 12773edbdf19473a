import {expect, test} from 'vitest';
import type {SliceDetail} from '../../../data/trace.ts';
import {linksOf, sourceOf} from './links.ts';

const slice = (name: string, args: readonly (readonly [string, string])[]): SliceDetail => ({
  slice: 1,
  name,
  track: 0,
  depth: 0,
  begin: 0,
  dur: 1,
  self: 1,
  args,
  parents: [],
  flows: [],
});
const ALL = ['graph_viewer', 'roofline_model', 'hlo_stats', 'framework_op_stats', 'kernel_stats'];

test('an operation links to the pages that have data', () => {
  const dot = slice('dot.1', [
    ['hlo_op', 'dot.1'],
    ['hlo_module', 'jit_step'],
    ['program_id', '22'],
  ]);
  expect(linksOf(dot, ALL).map(link => link.tool)).toEqual(['graph_viewer', 'roofline_model', 'hlo_stats']);
  expect(linksOf(dot, ['graph_viewer'])).toEqual([
    {tool: 'graph_viewer', filter: 'dot.1', ask: {module_name: 'jit_step(22)'}},
  ]);
  expect(
    linksOf(
      slice('k', [
        ['tf_op', 'dense/MatMul:MatMul'],
        ['kernel_details', 'regs:4'],
      ]),
      ALL,
    ).map(link => link.filter),
  ).toEqual(['dense/MatMul', 'k']);
  expect(linksOf(slice('plain', []), ALL)).toEqual([]);
});

test('a source line is found in arguments and in the name of a Python frame', () => {
  expect(sourceOf(slice('x', [['source', '/a/model.py:118']]))).toBe('/a/model.py:118');
  expect(sourceOf(slice('torch/nn/modules/module.py(1532): _call_impl', []))).toBe('torch/nn/modules/module.py:1532');
  expect(
    sourceOf(
      slice('x', [
        ['source_file', 'a.py'],
        ['source_line', '7'],
      ]),
    ),
  ).toBe('a.py:7');
  expect(sourceOf(slice('MatMul', []))).toBe('');
});
