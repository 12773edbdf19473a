#include <fmt/format.h>

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <charconv>
#include <map>
#include <tuple>

#include "base/wire.h"
#include "profile/hlo/cost.h"
#include "profile/hlo/text.h"
#include "profile/ops.h"

namespace sonde::profile {
namespace {

using trace::SliceId;
using trace::TrackId;

// Dimensions in a `shape` argument: "(float[2,3];half[4])" -> {{2,3},{4}}.
std::vector<std::vector<int64_t>> parse_shapes(std::string_view text) {
  std::vector<std::vector<int64_t>> shapes;
  for (size_t at = 0; (at = text.find('[', at)) != std::string_view::npos; ++at) {
    const size_t end = text.find(']', at);
    if (end == std::string_view::npos) break;
    std::vector<int64_t> dimensions;
    for (size_t p = at + 1; p < end;) {
      int64_t value = 0;
      const auto [next, error] = std::from_chars(text.data() + p, text.data() + end, value);
      if (error != std::errc()) break;
      dimensions.push_back(value);
      p = static_cast<size_t>(next - text.data()) + 1;
    }
    shapes.push_back(std::move(dimensions));
  }
  return shapes;
}

double product(const std::vector<int64_t>& values) {
  double p = 1;
  for (const int64_t v : values) p *= static_cast<double>(v);
  return p;
}

// Operations of one run of a TensorFlow op, from the shapes of its inputs; 0 when unknown.
double flops_from_shapes(std::string_view type, std::string_view shape_text) {
  if (shape_text.empty()) return 0;
  const auto shapes = parse_shapes(shape_text);
  if (shapes.size() < 2) return 0;
  const auto& a = shapes[0];
  const auto& b = shapes[1];
  if (type == "MatMul" || type == "_FusedMatMul" || type.starts_with("BatchMatMul")) {
    if (a.size() < 2 || b.size() < 2) return 0;
    // Which sides are transposed is not recorded: the length both have in common is contracted.
    const size_t n = a.size();
    const int64_t k =
        (a[n - 1] == b[b.size() - 2] || a[n - 1] == b[b.size() - 1]) ? a[n - 1] : a[n - 2];
    if (k == 0) return 0;
    double batch = 1;
    for (size_t i = 0; i + 2 < n; ++i) batch *= static_cast<double>(a[i]);
    const double m =
        static_cast<double>(a[n - 1]) * static_cast<double>(a[n - 2]) / static_cast<double>(k);
    const double columns = static_cast<double>(b[b.size() - 1]) *
                           static_cast<double>(b[b.size() - 2]) / static_cast<double>(k);
    return 2.0 * batch * m * columns * static_cast<double>(k);
  }
  if ((type == "Conv2D" || type == "_FusedConv2D") && a.size() == 4 && b.size() == 4) {
    // Input NHWC or NCHW, filter HWIO: each output position costs the whole filter.
    const double positions = product(a) / std::max<double>(1.0, static_cast<double>(b[2]));
    return 2.0 * positions * product(b);
  }
  return 0;
}

// Adds up (step, op) pairs; null where nobody asks for them.
class StepSums {
 public:
  void add(int32_t group, uint32_t op, int64_t time_ps, int64_t self_ps) {
    if (group == Grouping::kNoGroup) return;
    const uint64_t key = (uint64_t{static_cast<uint32_t>(group)} << 32) | op;
    OpInStep& sum = sums_.try_emplace(key, OpInStep{group, op, 0, 0, 0}).first->second;
    ++sum.occurrences;
    sum.time_ps += time_ps;
    sum.self_ps += self_ps;
  }
  std::vector<OpInStep> sorted() const {
    std::vector<OpInStep> all;
    for (const auto& [key, sum] : sums_) all.push_back(sum);
    std::sort(all.begin(), all.end(), [](const OpInStep& a, const OpInStep& b) {
      return std::pair(a.group, a.op) < std::pair(b.group, b.op);
    });
    return all;
  }

 private:
  boost::unordered_flat_map<uint64_t, OpInStep> sums_;
};

class GpuOps {
 public:
  GpuOps(const trace::Trace& trace, const Vocabulary& words, const Grouping& grouping,
         const hlo::Modules& modules, StepSums* by_step = nullptr)
      : trace_(trace), words_(words), grouping_(grouping), modules_(modules), by_step_(by_step) {}

  DeviceOps run() {
    for (const TrackId plane : words_.gpu_planes) add_plane(plane);
    for (DeviceOp& op : result_.ops) finish(op);
    return std::move(result_);
  }

 private:
  struct Key {
    uint64_t program;
    uint32_t first, second;
    bool operator==(const Key&) const = default;
    friend size_t hash_value(const Key& k) {
      return (k.program * 0x9e3779b97f4a7c15u) ^ (uint64_t{k.first} << 29) ^ k.second;
    }
  };

  void add_plane(TrackId plane) {
    int64_t first = INT64_MAX, last = INT64_MIN, busy = 0;
    std::vector<bool> seen(result_.ops.size(), false);
    for (const TrackId t : lines_of(trace_, plane)) {
      if (words_.derived[t]) continue;
      const trace::Track& track = trace_.tracks()[t];
      for (SliceId s = track.first_slice; s < track.first_slice + track.slices; ++s) {
        first = std::min(first, trace_.begin(s).value);
        last = std::max(last, trace_.end(s).value);
        const uint32_t op = op_of(s);
        if (op == trace::kNone) continue;
        busy += trace_.duration(s).value;
        if (seen.size() <= op) seen.resize(op + 1, false);
        if (!seen[op]) {
          seen[op] = true;
          ++result_.ops[op].devices;
        }
      }
    }
    if (first == INT64_MAX) return;
    ++result_.devices;
    const int64_t total = std::max(last - first, busy);
    result_.total_ps += total;
    result_.idle_ps += total - busy;
  }

  uint32_t op_of(SliceId s) {
    const Keys& key = words_.key;
    std::optional<trace::ArgValue> hlo_op, program, tf_op, level0, name, shape;
    const auto look = [&](trace::ArgRange range) {
      for (uint32_t a = range.first; a < range.first + range.count; ++a) {
        const trace::Arg arg = trace_.arg(a);
        if (arg.key == key.hlo_op) hlo_op = arg.value;
        if (arg.key == key.program_id) program = arg.value;
        if (arg.key == key.tf_op) tf_op = arg.value;
        if (arg.key == key.level0) level0 = arg.value;
        if (arg.key == key.name) name = arg.value;
        if (arg.key == key.shape) shape = arg.value;
      }
    };
    look(trace_.label(s).args);
    look(trace_.args(s));
    uint32_t index;
    if (hlo_op && hlo_op->type == trace::ArgType::kText) {
      index = hlo(s, static_cast<trace::StringId>(hlo_op->bits), program ? program->as_uint() : 0);
    } else {
      if (!tf_op || tf_op->type != trace::ArgType::kText || trace_.text_of(tf_op).empty())
        tf_op = level0;
      if (!tf_op || tf_op->type != trace::ArgType::kText) return trace::kNone;
      index = framework(s, static_cast<trace::StringId>(tf_op->bits), trace_.text_of(shape));
    }
    if (index == trace::kNone) return trace::kNone;
    DeviceOp& op = result_.ops[index];
    ++op.occurrences;
    op.time_ps += trace_.duration(s).value;
    op.self_ps += trace_.duration(s).value;
    op.min_ps = std::min(op.min_ps, trace_.duration(s).value);
    op.eager |= grouping_.eager[s] != 0;
    if (by_step_) {
      by_step_->add(grouping_.of[s], index, trace_.duration(s).value, trace_.duration(s).value);
    }
    return index;
  }

  uint32_t hlo(SliceId, trace::StringId text, uint64_t program) {
    const auto [found, added] = ids_.try_emplace(Key{program, text, 0}, trace::kNone);
    if (!added) {
      result_.without_module += found->second == trace::kNone;
      return found->second;
    }
    std::string_view name = trace_.text(text);
    if (const size_t colons = name.rfind("::"); colons != std::string_view::npos)
      name.remove_prefix(colons + 2);
    const hlo::Module* module = modules_.by_program(program);
    const hlo::Instruction* instruction = module ? module->find(name) : nullptr;
    if (!instruction) {
      ++result_.without_module;
      return trace::kNone;
    }
    // Two spellings (with and without the outer op) lead to one op.
    const auto [same, is_new] =
        hlo_ids_.try_emplace({program, instruction}, static_cast<uint32_t>(result_.ops.size()));
    if (is_new) {
      DeviceOp op;
      op.name = instruction->name;
      op.category = hlo::category_of(*instruction);
      op.provenance = instruction->framework_op();
      op.program_id = program;
      op.is_hlo = true;
      op.module = module;
      op.instruction = instruction;
      result_.ops.push_back(std::move(op));
    }
    found->second = same->second;
    return same->second;
  }

  uint32_t framework(SliceId s, trace::StringId text, std::string_view shape) {
    const trace::StringId kernel = trace_.label(s).name;
    const auto [found, added] = ids_.try_emplace(Key{UINT64_MAX, text, kernel}, trace::kNone);
    if (added) {
      const OpName parsed = parse_op_name(trace_.text(text));
      if (parsed.name.empty()) return trace::kNone;
      found->second = static_cast<uint32_t>(result_.ops.size());
      DeviceOp op;
      op.name = fmt::format("{}/{}", parsed.name, trace_.text(kernel));
      op.category = parsed.is_known() ? parsed.type : "unknown";  // as xprof spells it here
      op.provenance = trace_.text(text);
      result_.ops.push_back(std::move(op));
    }
    if (found->second == trace::kNone || shape.empty()) return found->second;
    DeviceOp& op = result_.ops[found->second];
    if (const double flops = flops_from_shapes(op.category, shape); flops > 0) {
      op.flops += flops;
      op.model_flops += flops;
      op.flops_estimated = true;
    }
    return found->second;
  }

  void finish(DeviceOp& op) const {
    if (!op.is_hlo) return;
    const hlo::Cost cost = hlo::cost_of(*op.module, *op.instruction);
    const double n = static_cast<double>(op.occurrences);
    op.model_flops = cost.flops * n;
    op.flops = op.model_flops;
    op.bytes = cost.bytes * n;
    op.hbm_bytes = cost.hbm_bytes * n;
    op.expression = hlo::instruction_text(*op.module, *op.instruction, hlo::TextStyle::kOneLine);
    op.source = op.module->source(*op.instruction);
    op.source_stack = op.module->source_stack(*op.instruction);
    if (!op.source_stack.empty()) op.source_stack += "\n";
    op.deduplicated_name = op.instruction->deduplicated_name;
  }

  const trace::Trace& trace_;
  const Vocabulary& words_;
  const Grouping& grouping_;
  const hlo::Modules& modules_;
  StepSums* by_step_;
  DeviceOps result_;
  boost::unordered_flat_map<Key, uint32_t> ids_;
  std::map<std::pair<uint64_t, const hlo::Instruction*>, uint32_t> hlo_ids_;
};

// --- TPU cores and CPU programs: nested ops, self time by a stack ---

struct Nested {
  uint32_t op;
  int32_t group;
  int64_t begin, end, children;
};

class NestedOps {
 public:
  NestedOps(const trace::Trace& trace, const Vocabulary& words, const Grouping& grouping,
            const hlo::Modules& modules, StepSums* by_step)
      : trace_(trace), words_(words), grouping_(grouping), modules_(modules), by_step_(by_step) {}

  DeviceOps tpu() {
    for (const TrackId plane : words_.tpu_planes) {
      int64_t first = INT64_MAX, last = INT64_MIN;
      const int64_t before = self_ps_;
      for (const TrackId t : lines_of(trace_, plane)) {
        const std::string_view name = trace_.track_name(t);
        if (name != "XLA Ops") continue;
        const trace::Track& track = trace_.tracks()[t];
        for (SliceId s = track.first_slice; s < track.first_slice + track.slices; ++s) {
          const auto [begin, end] = device_span(s);
          first = std::min(first, begin);
          last = std::max(last, end);
        }
        if (name == "XLA Ops") {
          walk(track, [&](SliceId s) { return tpu_op(s); });
        }
      }
      if (first == INT64_MAX) continue;
      ++result_.devices;
      const int64_t total = std::max(last - first, self_ps_ - before);
      result_.total_ps += total;
      result_.idle_ps += total - (self_ps_ - before);
      add_duty(plane);
    }
    return std::move(result_);
  }

  // Programs compiled for the CPU: their thunks are host slices with hlo_op.
  DeviceOps cpu() {
    result_.on_host = true;
    if (words_.key.hlo_op == trace::kNone) return std::move(result_);
    for (const TrackId plane : words_.host_planes) {
      for (const TrackId t : lines_of(trace_, plane)) {
        const trace::Track& track = trace_.tracks()[t];
        int64_t first = INT64_MAX, last = INT64_MIN;
        const int64_t before = self_ps_;
        walk(track, [&](SliceId s) {
          const uint32_t op = cpu_op(s);
          if (op != trace::kNone) {
            first = std::min(first, trace_.begin(s).value);
            last = std::max(last, trace_.end(s).value);
          }
          return op;
        });
        if (first == INT64_MAX) continue;
        ++result_.devices;
        result_.total_ps += std::max(last - first, self_ps_ - before);
      }
    }
    result_.idle_ps = std::max<int64_t>(0, result_.total_ps - self_ps_);
    for (DeviceOp& op : result_.ops) {
      op.devices = 1;
      if (!op.instruction) continue;
      const hlo::Cost cost = hlo::cost_of(*op.module, *op.instruction);
      const double n = static_cast<double>(op.occurrences);
      op.flops = op.model_flops = cost.flops * n;
      op.bytes = op.hbm_bytes = cost.bytes * n;
      op.expression = hlo::instruction_text(*op.module, *op.instruction, hlo::TextStyle::kOneLine);
      op.source = op.module->source(*op.instruction);
      op.source_stack = op.module->source_stack(*op.instruction);
      if (!op.source_stack.empty()) op.source_stack += "\n";
    }
    return std::move(result_);
  }

 private:
  // Whether the op waits for the host or sends to it.
  bool is_off_duty(SliceId s) const {
    const std::string_view category =
        trace_.text_of(trace_.find(trace_.label(s).args, words_.key.hlo_category));
    for (const std::string_view off :
         {"infeed", "outfeed", "send", "recv", "host send", "host recv"}) {
      if (category == off || (category.starts_with(off) && category.ends_with("-done")))
        return true;
    }
    return false;
  }

  // Modules count as time in which ops could have run.
  void add_duty(TrackId plane) {
    int64_t first = INT64_MAX, last = INT64_MIN, busy_until = INT64_MIN;
    for (const TrackId t : lines_of(trace_, plane)) {
      const bool are_ops = trace_.track_name(t) == "XLA Ops";
      if (!are_ops && trace_.track_name(t) != "XLA Modules") continue;
      const trace::Track& track = trace_.tracks()[t];
      for (SliceId s = track.first_slice; s < track.first_slice + track.slices; ++s) {
        const int64_t begin = trace_.begin(s).value, end = trace_.end(s).value;
        first = std::min(first, begin);
        last = std::max(last, end);
        if (!are_ops || end <= busy_until || is_off_duty(s)) continue;
        result_.on_duty_ps += end - std::max(begin, busy_until);
        busy_until = end;
      }
    }
    if (first < last) result_.duty_window_ps += last - first;
  }

  std::pair<int64_t, int64_t> device_span(SliceId s) const {
    const auto offset = trace_.find(trace_.args(s), words_.key.device_offset);
    const auto duration = trace_.find(trace_.args(s), words_.key.device_duration);
    if (offset && duration)
      return {offset->as_int(), offset->as_int() + std::max<int64_t>(0, duration->as_int())};
    return {trace_.begin(s).value, trace_.end(s).value};
  }

  template <class OpOf>
  void walk(const trace::Track& track, const OpOf& op_of) {
    std::vector<Nested> open;
    const auto close = [&] {
      const Nested top = open.back();
      open.pop_back();
      DeviceOp& op = result_.ops[top.op];
      ++op.occurrences;
      const int64_t duration = top.end - top.begin;
      op.time_ps += duration;
      op.self_ps += duration - top.children;
      op.min_ps = std::min(op.min_ps, duration);
      self_ps_ += duration - top.children;
      if (by_step_) by_step_->add(top.group, top.op, duration, duration - top.children);
      if (!open.empty()) open.back().children += duration;
    };
    for (SliceId s = track.first_slice; s < track.first_slice + track.slices; ++s) {
      if (words_.key.async != trace::kNone) {
        const auto async = trace_.find(trace_.args(s), words_.key.async);
        if (async && async->as_int() != 0) continue;
      }
      const uint32_t op = op_of(s);
      if (op == trace::kNone) continue;
      const auto [begin, end] = device_span(s);
      while (!open.empty() && !(open.back().begin <= begin && end <= open.back().end)) close();
      open.push_back({op, by_step_ ? grouping_.of[s] : Grouping::kNoGroup, begin, end, 0});
    }
    while (!open.empty()) close();
  }

  uint32_t tpu_op(SliceId s) {
    const trace::LabelId label = trace_.label_id(s);
    const auto [found, added] = by_label_.try_emplace(label, trace::kNone);
    if (!added) {
      accumulate(found->second, trace_.label(s));
      return found->second;
    }
    const Keys& key = words_.key;
    const trace::Label& info = trace_.label(s);
    const auto program = trace_.find(info.args, key.program_id);
    const auto symbol = trace_.find(info.args, key.symbol_id);
    const std::pair<uint64_t, uint64_t> id{program ? program->as_uint() : 0,
                                           symbol ? symbol->as_uint() : UINT64_MAX - label};
    const auto [same, is_new] =
        by_symbol_.try_emplace(id, static_cast<uint32_t>(result_.ops.size()));
    found->second = same->second;
    if (is_new) {
      DeviceOp op;
      op.name = trace_.shown_name_of(info);
      op.expression = trace_.text(info.name);
      op.category = trace_.text_of(trace_.find(info.args, key.hlo_category));
      op.provenance = trace_.text_of(trace_.find(info.args, key.tf_op));
      op.program_id = id.first;
      op.is_hlo = true;
      op.source = trace_.text_of(trace_.find(info.args, key.source));
      op.source_stack = trace_.text_of(trace_.find(info.args, key.source_stack));
      op.deduplicated_name = trace_.text_of(trace_.find(info.args, key.deduplicated_name));
      op.module = modules_.by_program(op.program_id);
      op.instruction = op.module ? op.module->find(op.name) : nullptr;
      result_.ops.push_back(std::move(op));
    }
    accumulate(found->second, info);
    return found->second;
  }

  // Costs the compiler wrote into the op's metadata, for one occurrence.
  void accumulate(uint32_t index, const trace::Label& label) {
    DeviceOp& op = result_.ops[index];
    const Keys& key = words_.key;
    const auto number = [&](trace::KeyId k) {
      const auto value = trace_.find(label.args, k);
      return value ? value->as_double() : 0.0;
    };
    const double flops = number(key.flops), model = number(key.model_flops);
    op.flops += flops;
    op.model_flops += model != 0 ? model : flops;
    op.bytes += number(key.bytes_accessed);
    const auto breakdown = trace_.find(label.args, key.memory_breakdown);
    if (!breakdown || breakdown->type != trace::ArgType::kBytes) {
      op.hbm_bytes += number(key.bytes_accessed);
      return;
    }
    // An asynchronous copy is two ops; the breakdown credits HBM to the half that touches it and is
    // empty in the other.
    wire::Cursor cursor(trace_.bytes_of(*breakdown));
    for (wire::Field f; cursor.next(f);) {
      if (f.number != 1 || !f.is_bytes()) continue;
      uint64_t operation = 0, space = 0, bytes = 0;
      wire::Cursor access(f.bytes);
      for (wire::Field a; access.next(a);) {
        if (a.number == 1) operation = a.as_uint();
        if (a.number == 2) space = a.as_uint();
        if (a.number == 3) bytes = a.as_uint();
      }
      const double n = static_cast<double>(bytes);
      if (space == 1) op.hbm_bytes += n;
      if (space == 2) (operation == 1 ? op.cmem_read : op.cmem_write) += n;
      if (space == 3) (operation == 1 ? op.vmem_read : op.vmem_write) += n;
    }
  }

  uint32_t cpu_op(SliceId s) {
    const auto text = trace_.find(trace_.args(s), words_.key.hlo_op);
    if (!text || text->type != trace::ArgType::kText) return trace::kNone;
    if (trace_.name(s).starts_with("end: ")) return trace::kNone;
    const auto program = trace_.find(trace_.args(s), words_.key.program_id);
    const std::pair<uint64_t, uint64_t> id{program ? program->as_uint() : 0, text->bits};
    const auto [found, added] =
        by_symbol_.try_emplace(id, static_cast<uint32_t>(result_.ops.size()));
    if (!added) return found->second;
    DeviceOp op;
    op.name = trace_.text_of(text);
    op.program_id = id.first;
    op.is_hlo = true;
    op.module = modules_.by_program(op.program_id);
    op.instruction = op.module ? op.module->find(op.name) : nullptr;
    if (op.instruction) {
      op.category = hlo::category_of(*op.instruction);
      op.provenance = op.instruction->framework_op();
    } else {
      op.category = "Unknown";
    }
    result_.ops.push_back(std::move(op));
    return found->second;
  }

  const trace::Trace& trace_;
  const Vocabulary& words_;
  const Grouping& grouping_;
  const hlo::Modules& modules_;
  StepSums* by_step_;
  DeviceOps result_;
  int64_t self_ps_ = 0;
  boost::unordered_flat_map<trace::LabelId, uint32_t> by_label_;
  std::map<std::pair<uint64_t, uint64_t>, uint32_t> by_symbol_;
};

}  // namespace

namespace {

DeviceOps collect(const trace::Trace& trace, const Vocabulary& words, const Grouping& grouping,
                  const hlo::Modules& modules, StepSums* by_step) {
  if (!words.tpu_planes.empty()) return NestedOps(trace, words, grouping, modules, by_step).tpu();
  if (!words.gpu_planes.empty()) return GpuOps(trace, words, grouping, modules, by_step).run();
  return NestedOps(trace, words, grouping, modules, by_step).cpu();
}

}  // namespace

DeviceOps device_ops(const trace::Trace& trace, const Vocabulary& words, const Grouping& grouping,
                     const hlo::Modules& modules) {
  return collect(trace, words, grouping, modules, nullptr);
}

std::vector<OpInStep> device_ops_by_step(const trace::Trace& trace, const Vocabulary& words,
                                         const Grouping& grouping, const hlo::Modules& modules) {
  StepSums sums;
  (void)collect(trace, words, grouping, modules, &sums);
  return sums.sorted();
}

DeviceOps ops_of_step(const DeviceOps& all, const std::vector<OpInStep>& parts, int32_t group) {
  DeviceOps step;
  step.devices = all.devices;
  step.on_host = all.on_host;
  auto at = std::lower_bound(parts.begin(), parts.end(), group,
                             [](const OpInStep& part, int32_t g) { return part.group < g; });
  for (; at != parts.end() && at->group == group; ++at) {
    DeviceOp op = all.ops[at->op];
    const double share = op.occurrences == 0 ? 0.0
                                             : static_cast<double>(at->occurrences) /
                                                   static_cast<double>(op.occurrences);
    op.occurrences = at->occurrences;
    op.time_ps = at->time_ps;
    op.self_ps = at->self_ps;
    for (double* sum : {&op.flops, &op.model_flops, &op.bytes, &op.hbm_bytes, &op.cmem_read,
                        &op.cmem_write, &op.vmem_read, &op.vmem_write})
      *sum *= share;
    step.ops.push_back(std::move(op));
  }
  return step;
}

std::vector<FrameworkOp> framework_ops(const DeviceOps& device) {
  std::map<std::pair<std::string, std::string>, FrameworkOp> by_name;
  for (const DeviceOp& op : device.ops) {
    std::string name = op.name, type = "Unknown";
    bool parameter = false;
    const std::string_view text = op.provenance;
    if (!text.empty() && text != ":") {
      const OpName parsed = parse_op_name(text);
      name = parsed.name;
      type = parsed.is_known() ? parsed.type : "Unknown";
      parameter = op.is_hlo && name.find('/') == std::string::npos && text.ends_with(':');
    }
    FrameworkOp& sum = by_name[{name, type}];
    sum.name = name;
    sum.type = type;
    sum.is_parameter |= parameter;
    sum.occurrences = std::max(sum.occurrences, op.occurrences);
    sum.time_ps += op.time_ps;
    sum.self_ps += op.self_ps;
    sum.flops += op.flops;
    sum.model_flops += op.model_flops;
    sum.bytes += op.bytes;
    sum.hbm_bytes += op.hbm_bytes;
    sum.eager |= op.eager;
  }
  std::vector<FrameworkOp> result;
  for (auto& [key, op] : by_name) result.push_back(std::move(op));
  return result;
}

}  // namespace sonde::profile
