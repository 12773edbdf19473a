// The grammar of framework op names: "scope/op:Type" of TensorFlow, "jit(f)/scope/prim" of JAX,
// "Iterator::Root::Map" of tf.data, and the names of copies. Every tool reads names through this.
#pragma once

#include <cstdint>
#include <string_view>

namespace sonde::capture {

enum class OpCategory : uint8_t {
  kUnknown,
  kTensorFlow,
  kJax,
  kTfData,
  kCopyHostToDevice,
  kCopyDeviceToHost,
  kCopyDeviceToDevice,
  kCopyHostToHost,
};

struct OpName {
  OpCategory category = OpCategory::kUnknown;
  std::string_view name;  // of the op with its scopes; views into the parsed text
  std::string_view type;  // "MatMul", "Dataset", "dot_general", "MemcpyHToD"

  bool is_copy() const { return category >= OpCategory::kCopyHostToDevice; }
  bool is_known() const { return category != OpCategory::kUnknown; }
};

OpName parse_op_name(std::string_view full);

// The name without a trailing _<number>: what TensorFlow and XLA add to make names unique.
std::string_view without_number(std::string_view name);

}  // namespace sonde::capture
