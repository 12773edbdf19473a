// What the operators of a PyTorch capture must compute and move, from the shapes recorded with
// them (record_shapes=True): matrix products, convolutions and attention, which are nearly all of
// what a model computes.
#pragma once

#include <vector>

#include "capture/analysis/pytorch/capture.h"

namespace sonde::capture::pytorch {

enum class Precision : uint8_t { k32, k16, k8 };

struct OperatorWork {
  uint32_t node = kNone;
  double flops = 0;
  double bytes = 0;  // every operand and the result once: the least that must be moved
  Precision precision = Precision::k32;
};

// One entry for each call whose shapes are known. A call inside a counted one is not counted again.
std::vector<OperatorWork> operator_work(const Capture& capture);

// For one call of an operator; zero where it is no such operator or the shapes do not say.
// `dims` and `types` are the recorded lists, `concrete` the values of its other arguments.
OperatorWork work_of_call(std::string_view name, std::string_view dims, std::string_view types,
                          std::string_view concrete);

}  // namespace sonde::capture::pytorch
