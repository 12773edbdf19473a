import {describe, expect, test} from 'vitest';
import {hasTemplates, kernelName, placeOf, readableName, withoutTemplates} from './names.ts';

describe('names', () => {
  test.each([
    [
      'void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, std::array<char*, 1>>(int, float)',
      'void at::native::vectorized_elementwise_kernel(int, float)',
    ],
    ['ampere_sgemm_128x64_nn', 'ampere_sgemm_128x64_nn'],
    ['std::ostream& operator<<(std::ostream&, int)', 'std::ostream& operator<<(std::ostream&, int)'],
    ['f<decltype(p->x)>()', 'f()'],
    ['a < b', 'a < b'],
  ])('%s without template arguments', (name, wanted) => {
    expect(withoutTemplates(name)).toBe(wanted);
    expect(hasTemplates(name)).toBe(name !== wanted);
  });

  test.each([
    [
      'void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, std::array<char*, 1>>(int, float)',
      'vectorized_elementwise_kernel · FillFunctor',
    ],
    ['void cutlass::Kernel<cutlass_80_tensorop_s1688gemm>(Params)', 'cutlass_80_tensorop_s1688gemm'],
    ['void (anonymous namespace)::softmax_warp_forward<float, 10>(float*)', 'softmax_warp_forward'],
    ['std::enable_if<!false, void>::type internal::gemvx::kernel<int, float>(int)', 'gemvx::kernel'],
    [
      'void cutlass::Kernel2<cutlass_80_wmma_tensorop_bf16_16x16_128x2_tn_align8>(Params)',
      'cutlass_80_wmma_tensorop_bf16_16x16_128x2_tn_align8',
    ],
    [
      'Cijk_Ailk_Bljk_BBS_BH_Bias_HAS_SAV_UserArgs_MT256x176x64_MI16x16x1_SN_LDSB0_AFC1',
      'Cijk_Ailk_Bljk · BBS · MT256x176x64',
    ],
    ['Iterator::Root::Prefetch::Map', 'Iterator::Root::Prefetch::Map'],
    ['ampere_sgemm_128x64_nn', 'ampere_sgemm_128x64_nn'],
    ['aten::mm', 'aten::mm'],
    ['torch/nn/modules/module.py(1501): _call_impl', 'torch/nn/modules/module.py(1501): _call_impl'],
    [
      '<built-in method run_backward of torch::Engine object>',
      '<built-in method run_backward of torch::Engine object>',
    ],
    ['ProfilerStep#3', 'ProfilerStep#3'],
  ])('the short name of %s', (name, wanted) => expect(kernelName(name)).toBe(wanted));

  test.each([
    ['aten::addmm:aten::addmm', 'aten::addmm'],
    [
      'aten::add/void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>(int)',
      'aten::add / vectorized_elementwise_kernel · CUDAFunctor_add',
    ],
    ['aten::mm/ampere_sgemm_128x64_nn', 'aten::mm / ampere_sgemm_128x64_nn'],
    ['jit(step)/layer0/dot_general', 'jit(step)/layer0/dot_general'],
    ['torch/nn/modules/module.py(1501): _call_impl', 'torch/nn/modules/module.py(1501): _call_impl'],
  ])('%s as a table shows it', (name, wanted) => expect(readableName(name)).toBe(wanted));

  test.each([
    ['/srv/code/train.py:42', {path: '/srv/code/train.py', line: 42, rest: ''}],
    ['torch/nn/modules/linear.py(125): forward', {path: 'torch/nn/modules/linear.py', line: 125, rest: 'forward'}],
    ['C:\\work\\train.py:7', {path: 'C:\\work\\train.py', line: 7, rest: ''}],
    ['<built-in method matmul>', null],
    ['<string>(1): <module>', null],
    ['aten::mm', null],
  ])('the place in %s', (text, wanted) => expect(placeOf(text)).toEqual(wanted));
});
