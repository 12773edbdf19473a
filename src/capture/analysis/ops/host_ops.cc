#include <algorithm>
#include <map>

#include "capture/analysis/ops/ops.h"

namespace sonde::capture {
namespace {

using trace::SliceId;
using trace::TrackId;

struct Totals {
  int64_t occurrences = 0, time_ps = 0, self_ps = 0;
  bool eager = false, is_stage = false;
  std::string_view type;
};
using ByName = std::map<std::string_view, Totals>;

struct Open {
  int64_t begin, end, children_ps;
  std::string_view name, type;
  bool eager, is_stage;
};

// The ops of one thread. An op ends at its end; whatever was begun inside it and has not ended by
// then is given up, which is how xprof treats slices that overlap without nesting.
class Thread {
 public:
  explicit Thread(ByName& totals) : totals_(totals) {}

  void begin(const Open& op) {
    end_until(op.begin);
    nested_ &= stack_.empty() || op.end <= stack_.back().end;
    if (first_ > op.begin) first_ = op.begin;
    last_ = std::max(last_, op.end);
    stack_.push_back(op);
  }
  void finish() { end_until(INT64_MAX); }
  bool empty() const { return first_ == INT64_MAX; }
  int64_t idle_ps() const { return empty() ? 0 : last_ - first_ - self_ps_; }
  int64_t self_ps() const { return self_ps_; }

 private:
  void end_until(int64_t time) {
    while (!stack_.empty()) {
      const size_t at = next_to_end();
      if (stack_[at].end > time) return;
      const Open op = stack_[at];
      stack_.resize(at);
      if (stack_.empty()) nested_ = true;
      const int64_t duration = op.end - op.begin, self = duration - op.children_ps;
      Totals& totals = totals_[op.name];
      totals.type = op.type;
      totals.is_stage |= op.is_stage;
      totals.eager |= op.eager;
      ++totals.occurrences;
      totals.time_ps += duration;
      totals.self_ps += self;
      self_ps_ += self;
      if (!stack_.empty()) stack_.back().children_ps += duration;
    }
  }
  // The open op that ends first; of equal ones the outermost.
  size_t next_to_end() const {
    size_t at = stack_.size() - 1;
    if (nested_) {
      while (at > 0 && stack_[at - 1].end == stack_[at].end) --at;
      return at;
    }
    for (size_t i = stack_.size(); i-- > 0;) {
      if (stack_[i].end <= stack_[at].end) at = i;
    }
    return at;
  }

  ByName& totals_;
  std::vector<Open> stack_;
  bool nested_ = true;
  int64_t first_ = INT64_MAX, last_ = INT64_MIN, self_ps_ = 0;
};

// The op of a host slice, if it is one.
bool op_of(const trace::Trace& trace, const Vocabulary& words, SliceId s, Open& op) {
  const Keys& key = words.key;
  const LabelInfo& label = words.labels[trace.label_id(s)];
  op.is_stage = false;
  if (key.stage_id != trace::kNone && trace.find(trace.args(s), key.stage_id)) {
    const std::string_view category = trace.text_of(trace.find(trace.args(s), key.stage_category));
    if (!category.empty()) {
      op.name = trace.name(s);
      op.type = category;
      op.is_stage = true;
      return true;
    }
  }
  // A launch named after the copy it starts is not the copy.
  const bool is_launch = label.op.is_copy() && key.correlation_id != trace::kNone &&
                         trace.find(trace.args(s), key.correlation_id).has_value();
  if (is_launch) return false;
  if (label.op.is_known()) {
    op.name = label.op.name;
    op.type = label.op.type;
    return true;
  }
  if (label.event == HostEvent::kMemoryAllocation || label.event == HostEvent::kMemoryDeallocation)
    return false;
  const std::string_view text = framework_op_text(trace, key, s);
  if (text.empty()) return false;
  const OpName parsed = parse_op_name(text);
  op.name = parsed.name;
  op.type = parsed.type;
  return true;
}

}  // namespace

std::string_view framework_op_text(const trace::Trace& trace, const Keys& key, SliceId s) {
  const std::string_view tf_op = trace.text_of(trace.find(s, key.tf_op));
  if (!tf_op.empty() && tf_op != "XlaModule:") return tf_op;
  const std::string_view level0 = trace.text_of(trace.find(s, key.level0));
  if (!level0.empty()) return level0;
  if (tf_op.empty()) return {};
  const std::string_view name = trace.text_of(trace.find(s, key.name));
  if (!name.empty()) return name;
  return trace.text_of(trace.find(s, key.hlo_op));
}

HostOps host_ops(const trace::Trace& trace, const Vocabulary& words, const Grouping& grouping) {
  HostOps result;
  ByName totals;
  std::map<std::string_view, std::pair<int64_t, int64_t>> last_infeed;  // begin of the last, sum
  for (const TrackId plane : words.host_planes) {
    for (const TrackId t : lines_of(trace, plane)) {
      if (words.derived[t]) continue;
      const trace::Track& track = trace.tracks()[t];
      Thread thread(totals);
      for (SliceId s = track.first_slice; s < track.first_slice + track.slices; ++s) {
        Open op{};
        if (!op_of(trace, words, s, op)) continue;
        op.begin = trace.begin(s).value;
        op.end = trace.end(s).value;
        op.eager = grouping.eager[s] != 0;
        thread.begin(op);
        if (op.type.starts_with("InfeedEnqueue")) {
          result.infeed_ps += op.end - op.begin;
          auto& [last, sum] = last_infeed.try_emplace(op.name, INT64_MIN, 0).first->second;
          if (last != INT64_MIN) result.infeed_gap_ps += op.begin - last;
          last = op.begin;
        }
      }
      thread.finish();
      if (thread.empty()) continue;
      result.idle_ps += thread.idle_ps();
      result.busy_ps += thread.self_ps();
    }
  }
  for (const auto& [name, op] : totals) {
    result.ops.push_back({std::string(name), std::string(op.type), op.occurrences, op.time_ps,
                          op.self_ps, op.eager, op.is_stage});
  }
  return result;
}

double FunctionCalls::expensive_percent() const {
  int64_t all = 0;
  for (const int64_t ps : self_ps) all += ps;
  return all == 0 ? 0.0
                  : 100.0 * static_cast<double>(self_ps[0] + self_ps[2]) / static_cast<double>(all);
}

std::vector<FunctionCalls> function_calls(const trace::Trace& trace, const Vocabulary& words) {
  std::map<std::string_view, FunctionCalls> by_name;
  if (words.key.tf_function_call == trace::kNone) return {};
  struct Call {
    SliceId slice;
    int mode;
    int64_t children_ps;
  };
  for (const TrackId plane : words.host_planes) {
    for (const TrackId t : lines_of(trace, plane)) {
      std::vector<Call> open;
      const trace::Track& track = trace.tracks()[t];
      const auto close = [&](const Call& call) {
        FunctionCalls& calls = by_name[trace.name(call.slice)];
        ++calls.calls[call.mode];
        calls.self_ps[call.mode] += trace.duration(call.slice).value - call.children_ps;
      };
      for (SliceId s = track.first_slice; s < track.first_slice + track.slices; ++s) {
        const std::string_view mode =
            trace.text_of(trace.find(trace.args(s), words.key.tf_function_call));
        if (mode.empty()) continue;
        while (!open.empty() && trace.end(open.back().slice) <= trace.begin(s)) {
          close(open.back());
          open.pop_back();
        }
        if (!open.empty()) open.back().children_ps += trace.duration(s).value;
        const int index = mode == "eager"               ? 0
                          : mode == "concrete"          ? 1
                          : mode.starts_with("traced-") ? 2
                                                        : 3;
        open.push_back({s, index, 0});
        FunctionCalls& calls = by_name[trace.name(s)];
        if (const auto count = trace.find(trace.args(s), words.key.tracing_count)) {
          calls.tracing_count = std::max(calls.tracing_count, count->as_int());
          if (calls.first_tracing_count < 0) calls.first_tracing_count = count->as_int();
        }
      }
      for (; !open.empty(); open.pop_back()) close(open.back());
    }
  }
  std::vector<FunctionCalls> result;
  for (auto& [name, calls] : by_name) {
    calls.name = name;
    result.push_back(std::move(calls));
  }
  return result;
}

}  // namespace sonde::capture
