// What the slices of a PyTorch (Kineto) capture are. Categories and argument names changed between
// releases; both are resolved once a capture, by label, so that per-slice work is an array lookup.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "capture/trace/trace.h"

namespace sonde::capture::pytorch {

enum class Kind : uint8_t {
  kOther,
  kOperator,       // ATen, autograd and custom operators
  kStep,           // ProfilerStep#N on the host
  kCommunication,  // nccl:… and gloo:… on the host
  kDataLoader,     // enumerate(DataLoader)#….__next__
  kOptimizer,      // Optimizer.…
  kAnnotation,     // any other record_function
  kModule,         // nn.Module frame of the Python tracer
  kPython,         // any other Python frame
  kLaunch,         // runtime and driver calls
  kKernel,
  kMemcpy,
  kMemset,
  kDeviceAnnotation,  // the device-side extent of an annotation
  kSync,
  kMemory,  // [memory] instants
  kWindow,  // the capture's own span
};

constexpr bool is_device(Kind kind) {
  return kind == Kind::kKernel || kind == Kind::kMemcpy || kind == Kind::kMemset;
}

struct LabelWord {
  Kind kind = Kind::kOther;
  bool in_tree = false;            // takes part in the operator tree
  bool is_row = false;             // a row of the operator view
  bool eligible = false;           // operator that could use Tensor Cores
  bool uses_tensor_cores = false;  // kernel
  bool is_communication = false;   // kernel or host call of a collective
};

struct Words {
  explicit Words(const trace::Trace& trace);

  std::vector<LabelWord> labels;  // by LabelId
  trace::KeyId external_id, old_external_id, correlation, device, stream, input_dims,
      old_input_dims, input_type, call_stack, python_id, python_parent, python_module,
      collective_name, group_name, sequence, bytes, address, device_type, device_id, allocated,
      reserved, blocks_per_sm, occupancy, grid, block, registers, shared_memory, elements_in, dtype,
      copy_bytes;

  const LabelWord& of(const trace::Trace& trace, trace::SliceId s) const {
    return labels[trace.label_id(s)];
  }
};

bool is_tensor_core_kernel(std::string_view name);
bool is_tensor_core_operator(std::string_view name);
bool is_communication_kernel(std::string_view name);
bool is_collective_call(std::string_view name);  // nccl:all_reduce, c10d::allreduce_ …

}  // namespace sonde::capture::pytorch
