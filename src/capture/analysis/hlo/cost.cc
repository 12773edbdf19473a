#include "capture/analysis/hlo/cost.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "codec/json_read.h"

namespace sonde::capture::hlo {
namespace {

constexpr int kMaxDepth = 32;

bool is_any(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_free(std::string_view op) {
  return is_any(op, {"parameter", "constant", "tuple", "get-tuple-element", "bitcast", "iota",
                     "after-all", "partition-id", "replica-id", "add-dependency", "token"});
}

bool is_movement(std::string_view op) {
  return is_any(op, {"copy",
                     "transpose",
                     "reshape",
                     "broadcast",
                     "slice",
                     "dynamic-slice",
                     "dynamic-update-slice",
                     "concatenate",
                     "pad",
                     "gather",
                     "reverse",
                     "copy-start",
                     "copy-done",
                     "bitcast-convert",
                     "dynamic-reshape",
                     "rng-get-and-update-state",
                     "infeed",
                     "outfeed",
                     "send",
                     "recv",
                     "send-done",
                     "recv-done",
                     "custom-call",
                     "while",
                     "conditional",
                     "call",
                     "optimization-barrier",
                     "sort",
                     "fusion",
                     "all-gather",
                     "all-to-all",
                     "collective-permute"});
}

bool is_transcendental(std::string_view op) {
  return is_any(op,
                {"exponential", "exponential-minus-one", "log", "log-plus-one", "logistic", "tanh",
                 "sine", "cosine", "tan", "sqrt", "rsqrt", "cbrt", "power", "atan2", "erf"});
}

const Shape* operand_shape(const Module& module, const Instruction& i, size_t n) {
  if (n >= i.operands.size()) return nullptr;
  const Instruction* operand = module.with_id(i.operands[n]);
  return operand ? &operand->shape : nullptr;
}

double dot_flops(const Shape& lhs, const Dot& dot, int64_t output_elements) {
  double k = 1;
  for (const int64_t d : dot.lhs_contracting) {
    if (d >= 0 && static_cast<size_t>(d) < lhs.dimensions.size())
      k *= static_cast<double>(lhs.dimensions[static_cast<size_t>(d)]);
  }
  return 2.0 * static_cast<double>(output_elements) * k;
}

// Kernel positions that fall on real input along one dimension, summed over all output positions.
double valid_positions(int64_t input, int64_t output, const WindowDimension& w) {
  const int64_t stride = std::max<int64_t>(1, w.stride);
  const int64_t dilation = std::max<int64_t>(1, w.window_dilation);
  const int64_t base = std::max<int64_t>(1, w.base_dilation);
  double count = 0;
  if (input <= 0 || output <= 0 || output > (1 << 24) || w.size > (1 << 16)) return 0;
  for (int64_t k = 0; k < w.size; ++k) {
    for (int64_t o = 0; o < output; ++o) {
      const int64_t at = o * stride + k * dilation - w.padding_low;
      if (at < 0 || at % base != 0 || at / base >= input) continue;
      ++count;
    }
  }
  return count;
}

double convolution_flops(const Module& module, const Instruction& i, const Shape& output) {
  const Shape* input = operand_shape(module, i, 0);
  const Shape* kernel = operand_shape(module, i, 1);
  if (!input || !kernel || !i.convolution.present) return 0;
  const Convolution& c = i.convolution;
  const auto dimension = [](const Shape& s, int64_t d) {
    return d >= 0 && static_cast<size_t>(d) < s.dimensions.size()
               ? s.dimensions[static_cast<size_t>(d)]
               : int64_t{1};
  };
  double flops = 2.0 * static_cast<double>(dimension(*kernel, c.kernel_input_feature)) *
                 static_cast<double>(dimension(output, c.output_feature)) *
                 static_cast<double>(dimension(output, c.output_batch));
  for (size_t d = 0;
       d < i.window.size() && d < c.output_spatial.size() && d < c.input_spatial.size(); ++d) {
    flops *= valid_positions(dimension(*input, c.input_spatial[d]),
                             dimension(output, c.output_spatial[d]), i.window[d]);
  }
  return flops;
}

// Dimension numbers of a library matmul, kept as JSON in its backend_config.
Dot dot_of_gemm(const Instruction& i) {
  Dot dot;
  auto config = read_json(i.backend_config);
  if (!config) return dot;
  const JsonValue* gemm = config->find("gemm_backend_config");
  const JsonValue* numbers = (gemm ? gemm : &*config)->find("dot_dimension_numbers");
  if (!numbers) return dot;
  dot.present = true;
  const auto list = [&](std::string_view key, std::vector<int64_t>& out) {
    const JsonValue* values = numbers->find(key);
    if (!values || !values->is_array()) return;
    for (const JsonValue& item : values->items) out.push_back(item.integer().value_or(0));
  };
  list("lhs_contracting_dimensions", dot.lhs_contracting);
  list("rhs_contracting_dimensions", dot.rhs_contracting);
  list("lhs_batch_dimensions", dot.lhs_batch);
  list("rhs_batch_dimensions", dot.rhs_batch);
  return dot;
}

int64_t array_elements(const Shape& shape) {
  if (!shape.is_tuple()) return shape.elements();
  return shape.tuple.empty() ? 0 : shape.tuple[0].elements();
}

double computation_flops(const Module& module, int64_t id, int depth, double& transcendentals);

double own_flops(const Module& module, const Instruction& i, int depth, double& transcendentals) {
  const std::string_view op = i.opcode;
  const Shape& result = i.shape.is_tuple() && !i.shape.tuple.empty() ? i.shape.tuple[0] : i.shape;
  if (op == "dot") {
    const Shape* lhs = operand_shape(module, i, 0);
    return lhs ? dot_flops(*lhs, i.dot, result.elements()) : 0;
  }
  if (op == "convolution") return convolution_flops(module, i, result);
  if (op == "custom-call") {
    if (i.custom_call_target.find("conv") != std::string::npos && i.convolution.present)
      return convolution_flops(module, i, result);
    if (i.custom_call_target.find("gemm") != std::string::npos ||
        i.custom_call_target.find("matmul") != std::string::npos) {
      const Shape* lhs = operand_shape(module, i, 0);
      const Dot dot = dot_of_gemm(i);
      return lhs && dot.present ? dot_flops(*lhs, dot, result.elements()) : 0;
    }
    return 0;
  }
  if (is_any(op, {"fusion", "call"})) {
    double flops = 0;
    for (const int64_t called : i.called)
      flops += computation_flops(module, called, depth + 1, transcendentals);
    return flops;
  }
  if (is_any(op, {"reduce", "reduce-window", "select-and-scatter", "scatter", "map"})) {
    const Shape* input = operand_shape(module, i, op == "scatter" ? 2 : 0);
    double per_element = 0, inner = 0;
    for (const int64_t called : i.called)
      per_element += computation_flops(module, called, depth + 1, inner);
    double elements = input ? static_cast<double>(input->elements()) : 0;
    if (op == "reduce-window" && !i.window.empty()) {
      elements = static_cast<double>(result.elements());
      for (const WindowDimension& w : i.window) elements *= static_cast<double>(w.size);
    }
    transcendentals += inner * elements;
    return elements * per_element;
  }
  if (is_free(op) || is_movement(op)) return 0;
  const double elements = static_cast<double>(array_elements(i.shape));
  if (is_transcendental(op)) {
    transcendentals += elements;
    return 0;
  }
  if (is_any(op, {"convert",
                  "compare",
                  "select",
                  "and",
                  "or",
                  "not",
                  "xor",
                  "is-finite",
                  "clamp",
                  "reduce-precision",
                  "real",
                  "imag",
                  "complex",
                  "shift-left",
                  "shift-right-logical",
                  "shift-right-arithmetic",
                  "rng",
                  "rng-bit-generator",
                  "all-reduce",
                  "reduce-scatter",
                  "all-reduce-start",
                  "all-reduce-done"})) {
    return op == "compare" || op == "select" || op == "convert" ? 0 : elements;
  }
  return elements;
}

double computation_flops(const Module& module, int64_t id, int depth, double& transcendentals) {
  if (depth > kMaxDepth) return 0;
  const Computation* computation = module.computation(id);
  if (!computation) return 0;
  double flops = 0;
  for (uint32_t k = 0; k < computation->count; ++k) {
    flops += own_flops(module, module.instructions[computation->first + k], depth, transcendentals);
  }
  return flops;
}

// Bytes a fusion reads of one of its parameters: all of it, unless it only takes slices.
double parameter_bytes(const Module& module, const Computation& body,
                       const Instruction& parameter) {
  double sliced = 0;
  bool only_slices = true, used = false;
  for (uint32_t k = 0; k < body.count; ++k) {
    const Instruction& user = module.instructions[body.first + k];
    for (size_t n = 0; n < user.operands.size(); ++n) {
      if (user.operands[n] != parameter.id) continue;
      used = true;
      if (n == 0 && is_any(user.opcode, {"slice", "dynamic-slice", "gather"})) {
        sliced += static_cast<double>(user.shape.bytes());
      } else if (n == 0 && user.opcode == "dynamic-update-slice") {
        continue;  // written in place, not read
      } else {
        only_slices = false;
      }
    }
  }
  if (!used) return 0;
  const double whole = static_cast<double>(parameter.shape.bytes());
  return only_slices ? std::min(whole, sliced) : whole;
}

double result_bytes(const Module& module, const Instruction& root) {
  if (root.opcode == "dynamic-update-slice") {
    const Shape* update = operand_shape(module, root, 1);
    if (update) return static_cast<double>(update->bytes());
  }
  return static_cast<double>(root.shape.bytes());
}

}  // namespace

Cost cost_of(const Module& module, const Instruction& i) {
  Cost cost;
  if (is_any(i.opcode, {"while", "conditional"})) return cost;
  cost.flops = own_flops(module, i, 0, cost.transcendentals);
  double read = 0, written = static_cast<double>(i.shape.bytes());
  const Computation* body =
      i.opcode == "fusion" && !i.called.empty() ? module.computation(i.called[0]) : nullptr;
  if (body) {
    for (uint32_t k = 0; k < body->count; ++k) {
      const Instruction& inner = module.instructions[body->first + k];
      if (inner.opcode == "parameter") read += parameter_bytes(module, *body, inner);
      if (inner.is_root) written = result_bytes(module, inner);
    }
  } else if (!is_free(i.opcode)) {
    for (size_t n = 0; n < i.operands.size(); ++n) {
      if (const Shape* shape = operand_shape(module, i, n)) {
        read += static_cast<double>(shape->bytes());
        const int bits = primitive_bits(shape->type);
        if (bits > 0) cost.operand_bits = std::min(cost.operand_bits, bits);
      }
    }
    if (is_any(i.opcode, {"slice", "dynamic-slice", "gather"})) read = written;
  } else {
    written = 0;
  }
  // A library call returns its workspace beside the result: scratch memory, not a result.
  if (i.opcode == "custom-call" && i.shape.is_tuple() && i.shape.tuple.size() == 2)
    written = static_cast<double>(i.shape.tuple[0].bytes());
  cost.bytes = read + written;
  cost.hbm_bytes = cost.bytes;
  return cost;
}

std::string category_of(const Instruction& i) {
  if (i.opcode == "fusion") {
    std::string kind = i.fusion_kind;
    if (kind.starts_with("k")) kind.erase(0, 1);
    std::transform(kind.begin(), kind.end(), kind.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return kind.empty() ? "fusion" : kind + " fusion";
  }
  if (is_any(i.opcode, {"copy", "transpose", "reshape"})) return "data formatting";
  return i.opcode;
}

}  // namespace sonde::capture::hlo
