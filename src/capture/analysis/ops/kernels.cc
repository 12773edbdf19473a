#include "capture/analysis/ops/kernels.h"

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <charconv>
#include <tuple>

#include "capture/analysis/ops/ops.h"

namespace sonde::capture {
namespace {

constexpr uint32_t kMostRegisters = 1024;  // a thread

using trace::SliceId;
using trace::TrackId;

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

constexpr std::string_view kNvidiaTensorCore[] = {
    "16816", "c1688", "conv1x1", "conv2d_c1_k1", "dgrad_1x1_stride_2x2", "direct_group",
    "first_layer_wgrad_kernel", "h1688", "h884", "hmma", "i16832", "i8816", "s884", "s1688",
    "xmma_gemm", "xmma_implicit_gemm", "xmma_sparse_conv", "xmma_sparse_gemm",
    "xmma_warp_specialized_implicit_gemm",
    // Newer libraries, which the list above predates.
    "wgmma", "gmma", "tensorop", "cutlass3x", "_tf32_", "flash_fwd", "flash_bwd", "fmha", "nvjet",
    "xmma_fprop", "xmma_dgrad", "xmma_wgrad"};
constexpr std::string_view kAmdMatrixCore[] = {
    "gemm_fusion", "mfma",  "wmma",           "_xdl",           "attn_fwd",
    "moe_gemm",    "aiter", "TileGemmShape<", "TileFmhaShape<", "TileFmhaBwdShape<"};

// Tensile names its matrix instruction: _MI16x16x16x1.
bool has_tensile_instruction(std::string_view name) {
  for (size_t at = 0; (at = name.find("_MI", at)) != std::string_view::npos; at += 3) {
    size_t p = at + 3, numbers = 0;
    while (p < name.size() && name[p] >= '0' && name[p] <= '9') {
      while (p < name.size() && name[p] >= '0' && name[p] <= '9') ++p;
      ++numbers;
      if (p >= name.size() || name[p] != 'x') break;
      ++p;
    }
    if (numbers >= 3) return true;
  }
  return false;
}

bool amd_matrix(std::string_view name) {
  return has_tensile_instruction(name) ||
         std::ranges::any_of(kAmdMatrixCore, [&](std::string_view w) { return contains(name, w); });
}
bool nvidia_tensor(std::string_view name) {
  return std::ranges::any_of(kNvidiaTensorCore,
                             [&](std::string_view w) { return contains(name, w); });
}

// An einsum of exactly two inputs is a matrix product.
bool is_two_input_einsum(std::string_view equation) {
  const size_t arrow = equation.find("->");
  if (arrow == std::string_view::npos) return false;
  const std::string_view inputs = equation.substr(0, arrow);
  return std::count(inputs.begin(), inputs.end(), ',') == 1;
}

struct Key {
  uint64_t op;  // StringId of the framework text, or of hlo_op with the program mixed in
  uint32_t kernel, details, equation;
  bool operator==(const Key&) const = default;
  friend size_t hash_value(const Key& k) {
    return (k.op * 0x9e3779b97f4a7c15u) ^ (uint64_t{k.kernel} << 31) ^ (uint64_t{k.details} << 7) ^
           k.equation;
  }
};

}  // namespace

LaunchShape parse_launch(std::string_view details) {
  LaunchShape launch;
  size_t at = 0;
  while (at < details.size()) {
    size_t end = details.find_first_of(" \n", at);
    if (end == std::string_view::npos) end = details.size();
    const std::string_view token = details.substr(at, end - at);
    at = end + 1;
    const size_t colon = token.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view key = token.substr(0, colon), value = token.substr(colon + 1);
    const auto number = [&](uint32_t& out) {
      std::from_chars(value.data(), value.data() + value.size(), out);
    };
    const auto dimensions = [&](uint32_t(&out)[3]) {
      const char* p = value.data();
      const char* stop = value.data() + value.size();
      for (uint32_t& d : out) {
        const auto [next, error] = std::from_chars(p, stop, d);
        if (error != std::errc() || next == stop) break;
        p = next + 1;
      }
    };
    if (key == "regs") {
      number(launch.registers);
      // Some recorders wrote what lay in memory there; no thread of any device has so many.
      launch.has_registers = launch.registers <= kMostRegisters;
      if (!launch.has_registers) launch.registers = 0;
    } else if (key == "static_shared" || key == "group_mem") {
      number(launch.static_shared);
    } else if (key == "dynamic_shared" || key == "shm") {
      number(launch.dynamic_shared);
    } else if (key == "grid") {
      dimensions(launch.grid);
    } else if (key == "block") {
      dimensions(launch.block);
    } else if (key == "occ_pct") {
      std::from_chars(value.data(), value.data() + value.size(), launch.occupancy_percent);
      launch.has_occupancy = launch.occupancy_percent > 0;
    }
  }
  return launch;
}

bool uses_tensor_cores(std::string_view kernel, const Machine& machine) {
  if (!machine.has_vendor) return nvidia_tensor(kernel) || amd_matrix(kernel);
  return machine.is_amd ? amd_matrix(kernel) : nvidia_tensor(kernel);
}

bool is_tensor_core_eligible(std::string_view name, std::string_view type) {
  for (const std::string_view text : {name, without_number(name), type}) {
    for (const std::string_view end :
         {"Conv2D", "Conv2DBackpropFilter", "Conv2DBackpropInput", "Conv3D",
          "DepthwiseConv2dNative", "DepthwiseConv2dNativeBackpropFilter",
          "DepthwiseConv2dNativeBackpropInput", "/MatMul", "FusedMatMul", "/CudnnRNN", "XlaDot",
          "XlaDotV2"}) {
      if (text.ends_with(end) && text != type) return true;
    }
    for (const std::string_view part : {"dot_general", "conv_general_dilated", "BatchMatMul",
                                        "CudnnRNNV", "CudnnRNNForward", "CudnnRNNBackprop"}) {
      if (contains(text, part) && text != type) return true;
    }
  }
  return false;
}

std::vector<Kernel> kernels_of(const trace::Trace& trace, const Vocabulary& words,
                               const hlo::Modules& modules, const Machine& machine) {
  const Keys& key = words.key;
  struct Entry {
    Kernel kernel;
  };
  boost::unordered_flat_map<Key, uint32_t> ids;
  std::vector<Kernel> found;
  for (const TrackId plane : words.gpu_planes) {
    for (const TrackId t : lines_of(trace, plane)) {
      if (words.derived[t]) continue;
      const trace::Track& track = trace.tracks()[t];
      for (SliceId s = track.first_slice; s < track.first_slice + track.slices; ++s) {
        const int64_t ns = trace.duration(s).value / 1000;
        if (ns < 1) continue;
        std::optional<trace::ArgValue> details, hlo_op, program, tf_op, level0, equation;
        const trace::ArgRange range = trace.args(s);
        for (uint32_t a = range.first; a < range.first + range.count; ++a) {
          const trace::Arg arg = trace.arg(a);
          if (arg.key == key.kernel_details) details = arg.value;
          if (arg.key == key.hlo_op) hlo_op = arg.value;
          if (arg.key == key.program_id) program = arg.value;
          if (arg.key == key.tf_op) tf_op = arg.value;
          if (arg.key == key.level0) level0 = arg.value;
          if (arg.key == key.equation) equation = arg.value;
        }
        if (!details) continue;
        if (!tf_op) tf_op = level0;
        const bool is_text = details->type == trace::ArgType::kText;
        const Key id{
            hlo_op ? (((hlo_op->bits << 32) ^ (program ? program->as_uint() : 0)) | (1ull << 63))
                   : (tf_op ? tf_op->bits : 0),
            trace.label(s).name, is_text ? static_cast<uint32_t>(details->bits) : 0,
            equation ? static_cast<uint32_t>(equation->bits) : 0};
        const auto [at, added] = ids.try_emplace(id, static_cast<uint32_t>(found.size()));
        if (added) {
          Kernel kernel;
          kernel.name = trace.name(s);
          kernel.launch = parse_launch(trace.text_of(details));
          std::string_view op_type;
          if (hlo_op) {
            std::string_view name = trace.text_of(hlo_op);
            if (const size_t c = name.rfind("::"); c != std::string_view::npos)
              name.remove_prefix(c + 2);
            const hlo::Module* module = modules.by_program(program ? program->as_uint() : 0);
            const hlo::Instruction* instruction = module ? module->find(name) : nullptr;
            if (instruction) {
              kernel.op_name = instruction->op_name;
              op_type = instruction->op_type;
            }
          } else if (tf_op) {
            const OpName parsed = parse_op_name(trace.text_of(tf_op));
            kernel.op_name = parsed.name;
            op_type = parsed.type;
          }
          kernel.uses_tensor_cores = uses_tensor_cores(kernel.name, machine);
          kernel.eligible = kernel.uses_tensor_cores ||
                            is_tensor_core_eligible(kernel.op_name, op_type) ||
                            is_two_input_einsum(trace.text_of(equation));
          found.push_back(std::move(kernel));
        }
        Kernel& kernel = found[at->second];
        ++kernel.occurrences;
        kernel.total_ns += ns;
        kernel.min_ns = std::min(kernel.min_ns, ns);
        kernel.max_ns = std::max(kernel.max_ns, ns);
      }
    }
  }
  // Different texts of one launch (occupancy formats, op spellings) are one kernel.
  const auto identity = [](const Kernel& k) {
    return std::tie(k.name, k.op_name, k.launch.grid[0], k.launch.grid[1], k.launch.grid[2],
                    k.launch.block[0], k.launch.block[1], k.launch.block[2], k.launch.registers,
                    k.launch.static_shared, k.launch.dynamic_shared);
  };
  std::sort(found.begin(), found.end(),
            [&](const Kernel& a, const Kernel& b) { return identity(a) < identity(b); });
  std::vector<Kernel> merged;
  for (Kernel& kernel : found) {
    if (merged.empty() || identity(merged.back()) != identity(kernel)) {
      merged.push_back(std::move(kernel));
      continue;
    }
    Kernel& into = merged.back();
    into.occurrences += kernel.occurrences;
    into.total_ns += kernel.total_ns;
    into.min_ns = std::min(into.min_ns, kernel.min_ns);
    into.max_ns = std::max(into.max_ns, kernel.max_ns);
    into.eligible |= kernel.eligible;
  }
  std::stable_sort(merged.begin(), merged.end(),
                   [](const Kernel& a, const Kernel& b) { return a.total_ns > b.total_ns; });
  return merged;
}

}  // namespace sonde::capture
