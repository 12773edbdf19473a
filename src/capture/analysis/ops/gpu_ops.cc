#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "capture/analysis/hlo/cost.h"
#include "capture/analysis/ops/device_op_sources.h"
#include "capture/analysis/ops/shape_flops.h"

namespace sonde::capture {
namespace {

using trace::SliceId;
using trace::TrackId;

class GpuOps {
 public:
  explicit GpuOps(const OpSource& source) : from_(source) {}

  DeviceOps run() {
    for (const TrackId plane : from_.words.gpu_planes) add_plane(plane);
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
    for (const TrackId t : lines_of(from_.trace, plane)) {
      if (from_.words.derived[t]) continue;
      const trace::Track& track = from_.trace.tracks()[t];
      for (SliceId s = track.first_slice; s < track.first_slice + track.slices; ++s) {
        first = std::min(first, from_.trace.begin(s).value);
        last = std::max(last, from_.trace.end(s).value);
        const uint32_t op = op_of(s);
        if (op == trace::kNone) continue;
        busy += from_.trace.duration(s).value;
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
    const Keys& key = from_.words.key;
    std::optional<trace::ArgValue> hlo_op, program, tf_op, level0, name, shape;
    const auto look = [&](trace::ArgRange range) {
      for (uint32_t a = range.first; a < range.first + range.count; ++a) {
        const trace::Arg arg = from_.trace.arg(a);
        if (arg.key == key.hlo_op) hlo_op = arg.value;
        if (arg.key == key.program_id) program = arg.value;
        if (arg.key == key.tf_op) tf_op = arg.value;
        if (arg.key == key.level0) level0 = arg.value;
        if (arg.key == key.name) name = arg.value;
        if (arg.key == key.shape) shape = arg.value;
      }
    };
    look(from_.trace.label(s).args);
    look(from_.trace.args(s));
    uint32_t index;
    if (hlo_op && hlo_op->type == trace::ArgType::kText) {
      index = hlo(static_cast<trace::StringId>(hlo_op->bits), program ? program->as_uint() : 0);
    } else {
      if (!tf_op || tf_op->type != trace::ArgType::kText || from_.trace.text_of(tf_op).empty())
        tf_op = level0;
      if (!tf_op || tf_op->type != trace::ArgType::kText) return trace::kNone;
      index = framework(s, static_cast<trace::StringId>(tf_op->bits), from_.trace.text_of(shape));
    }
    if (index == trace::kNone) return trace::kNone;
    DeviceOp& op = result_.ops[index];
    ++op.occurrences;
    op.time_ps += from_.trace.duration(s).value;
    op.self_ps += from_.trace.duration(s).value;
    op.min_ps = std::min(op.min_ps, from_.trace.duration(s).value);
    op.eager |= from_.grouping.eager[s] != 0;
    if (from_.by_step) {
      from_.by_step->add(from_.grouping.of[s], index, from_.trace.duration(s).value,
                         from_.trace.duration(s).value);
    }
    return index;
  }

  uint32_t hlo(trace::StringId text, uint64_t program) {
    const auto [found, added] = ids_.try_emplace(Key{program, text, 0}, trace::kNone);
    if (!added) {
      result_.without_module += found->second == trace::kNone;
      return found->second;
    }
    std::string_view name = from_.trace.text(text);
    if (const size_t colons = name.rfind("::"); colons != std::string_view::npos)
      name.remove_prefix(colons + 2);
    const hlo::Module* module = from_.modules.by_program(program);
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
    const trace::StringId kernel = from_.trace.label(s).name;
    const auto [found, added] = ids_.try_emplace(Key{UINT64_MAX, text, kernel}, trace::kNone);
    if (added) {
      const OpName parsed = parse_op_name(from_.trace.text(text));
      if (parsed.name.empty()) return trace::kNone;
      found->second = static_cast<uint32_t>(result_.ops.size());
      DeviceOp op;
      op.name = fmt::format("{}/{}", parsed.name, from_.trace.text(kernel));
      op.category = parsed.is_known() ? parsed.type : "unknown";  // as xprof spells it here
      op.provenance = from_.trace.text(text);
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
    describe_instruction(op);
    op.deduplicated_name = op.instruction->deduplicated_name;
  }

  const OpSource from_;
  DeviceOps result_;
  boost::unordered_flat_map<Key, uint32_t> ids_;
  std::map<std::pair<uint64_t, const hlo::Instruction*>, uint32_t> hlo_ids_;
};

}  // namespace

DeviceOps gpu_ops(const OpSource& source) { return GpuOps(source).run(); }

}  // namespace sonde::capture
