// TPU cores and CPU programs: nested ops, self time by a stack.
#include <algorithm>
#include <map>

#include "capture/analysis/hlo/cost.h"
#include "capture/analysis/ops/device_op_sources.h"
#include "codec/wire.h"

namespace sonde::capture {
namespace {

using trace::SliceId;
using trace::TrackId;

struct Nested {
  uint32_t op;
  int32_t group;
  int64_t begin, end, children;
};

class NestedOps {
 public:
  explicit NestedOps(const OpSource& source) : from_(source) {}

  DeviceOps tpu() {
    for (const TrackId plane : from_.words.tpu_planes) {
      int64_t first = INT64_MAX, last = INT64_MIN;
      const int64_t before = self_ps_;
      for (const TrackId t : lines_of(from_.trace, plane)) {
        if (from_.trace.track_name(t) != "XLA Ops") continue;
        const trace::Track& track = from_.trace.tracks()[t];
        for (SliceId s = track.first_slice; s < track.first_slice + track.slices; ++s) {
          const auto [begin, end] = device_span(s);
          first = std::min(first, begin);
          last = std::max(last, end);
        }
        walk(track, [&](SliceId s) { return tpu_op(s); });
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

  DeviceOps cpu() {
    result_.on_host = true;
    if (from_.words.key.hlo_op == trace::kNone) return std::move(result_);
    for (const TrackId plane : from_.words.host_planes) {
      for (const TrackId t : lines_of(from_.trace, plane)) {
        const trace::Track& track = from_.trace.tracks()[t];
        int64_t first = INT64_MAX, last = INT64_MIN;
        const int64_t before = self_ps_;
        walk(track, [&](SliceId s) {
          const uint32_t op = cpu_op(s);
          if (op != trace::kNone) {
            first = std::min(first, from_.trace.begin(s).value);
            last = std::max(last, from_.trace.end(s).value);
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
      describe_instruction(op);
    }
    return std::move(result_);
  }

 private:
  // Whether the op waits for the host or sends to it.
  bool is_off_duty(SliceId s) const {
    const std::string_view category = from_.trace.text_of(
        from_.trace.find(from_.trace.label(s).args, from_.words.key.hlo_category));
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
    for (const TrackId t : lines_of(from_.trace, plane)) {
      const bool are_ops = from_.trace.track_name(t) == "XLA Ops";
      if (!are_ops && from_.trace.track_name(t) != "XLA Modules") continue;
      const trace::Track& track = from_.trace.tracks()[t];
      for (SliceId s = track.first_slice; s < track.first_slice + track.slices; ++s) {
        const int64_t begin = from_.trace.begin(s).value, end = from_.trace.end(s).value;
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
    const auto offset = from_.trace.find(from_.trace.args(s), from_.words.key.device_offset);
    const auto duration = from_.trace.find(from_.trace.args(s), from_.words.key.device_duration);
    if (offset && duration)
      return {offset->as_int(), offset->as_int() + std::max<int64_t>(0, duration->as_int())};
    return {from_.trace.begin(s).value, from_.trace.end(s).value};
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
      if (from_.by_step) from_.by_step->add(top.group, top.op, duration, duration - top.children);
      if (!open.empty()) open.back().children += duration;
    };
    for (SliceId s = track.first_slice; s < track.first_slice + track.slices; ++s) {
      if (from_.words.key.async != trace::kNone) {
        const auto async = from_.trace.find(from_.trace.args(s), from_.words.key.async);
        if (async && async->as_int() != 0) continue;
      }
      const uint32_t op = op_of(s);
      if (op == trace::kNone) continue;
      const auto [begin, end] = device_span(s);
      while (!open.empty() && !(open.back().begin <= begin && end <= open.back().end)) close();
      open.push_back(
          {op, from_.by_step ? from_.grouping.of[s] : Grouping::kNoGroup, begin, end, 0});
    }
    while (!open.empty()) close();
  }

  uint32_t tpu_op(SliceId s) {
    const trace::LabelId label = from_.trace.label_id(s);
    const auto [found, added] = by_label_.try_emplace(label, trace::kNone);
    if (!added) {
      accumulate(found->second, from_.trace.label(s));
      return found->second;
    }
    const Keys& key = from_.words.key;
    const trace::Label& info = from_.trace.label(s);
    const auto program = from_.trace.find(info.args, key.program_id);
    const auto symbol = from_.trace.find(info.args, key.symbol_id);
    const std::pair<uint64_t, uint64_t> id{program ? program->as_uint() : 0,
                                           symbol ? symbol->as_uint() : UINT64_MAX - label};
    const auto [same, is_new] =
        by_symbol_.try_emplace(id, static_cast<uint32_t>(result_.ops.size()));
    found->second = same->second;
    if (is_new) {
      DeviceOp op;
      op.name = from_.trace.shown_name_of(info);
      op.expression = from_.trace.text(info.name);
      op.category = from_.trace.text_of(from_.trace.find(info.args, key.hlo_category));
      op.provenance = from_.trace.text_of(from_.trace.find(info.args, key.tf_op));
      op.program_id = id.first;
      op.is_hlo = true;
      op.source = from_.trace.text_of(from_.trace.find(info.args, key.source));
      op.source_stack = from_.trace.text_of(from_.trace.find(info.args, key.source_stack));
      op.deduplicated_name =
          from_.trace.text_of(from_.trace.find(info.args, key.deduplicated_name));
      op.module = from_.modules.by_program(op.program_id);
      op.instruction = op.module ? op.module->find(op.name) : nullptr;
      result_.ops.push_back(std::move(op));
    }
    accumulate(found->second, info);
    return found->second;
  }

  // Costs the compiler wrote into the op's metadata, for one occurrence.
  void accumulate(uint32_t index, const trace::Label& label) {
    DeviceOp& op = result_.ops[index];
    const Keys& key = from_.words.key;
    const auto number = [&](trace::KeyId k) {
      const auto value = from_.trace.find(label.args, k);
      return value ? value->as_double() : 0.0;
    };
    const double flops = number(key.flops), model = number(key.model_flops);
    op.flops += flops;
    op.model_flops += model != 0 ? model : flops;
    op.bytes += number(key.bytes_accessed);
    const auto breakdown = from_.trace.find(label.args, key.memory_breakdown);
    if (!breakdown || breakdown->type != trace::ArgType::kBytes) {
      op.hbm_bytes += number(key.bytes_accessed);
      return;
    }
    // An asynchronous copy is two ops; the breakdown credits HBM to the half that touches it and is
    // empty in the other.
    wire::Cursor cursor(from_.trace.bytes_of(*breakdown));
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
    const auto text = from_.trace.find(from_.trace.args(s), from_.words.key.hlo_op);
    if (!text || text->type != trace::ArgType::kText) return trace::kNone;
    if (from_.trace.name(s).starts_with("end: ")) return trace::kNone;
    const auto program = from_.trace.find(from_.trace.args(s), from_.words.key.program_id);
    const std::pair<uint64_t, uint64_t> id{program ? program->as_uint() : 0, text->bits};
    const auto [found, added] =
        by_symbol_.try_emplace(id, static_cast<uint32_t>(result_.ops.size()));
    if (!added) return found->second;
    DeviceOp op;
    op.name = from_.trace.text_of(text);
    op.program_id = id.first;
    op.is_hlo = true;
    op.module = from_.modules.by_program(op.program_id);
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

  const OpSource from_;
  DeviceOps result_;
  int64_t self_ps_ = 0;
  boost::unordered_flat_map<trace::LabelId, uint32_t> by_label_;
  std::map<std::pair<uint64_t, uint64_t>, uint32_t> by_symbol_;
};

}  // namespace

DeviceOps tpu_ops(const OpSource& source) { return NestedOps(source).tpu(); }

DeviceOps cpu_program_ops(const OpSource& source) { return NestedOps(source).cpu(); }

}  // namespace sonde::capture
