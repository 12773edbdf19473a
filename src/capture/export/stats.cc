#include "capture/export/stats.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/intern.h"
#include "capture/analysis/op_name.h"

namespace sonde::exports {
namespace {

using trace::SliceId;
using trace::TrackId;
using trace::TrackKind;

struct Gathered {
  std::vector<int64_t> durations;
  int64_t self = 0, first = INT64_MAX, last = INT64_MIN;
  std::vector<std::pair<size_t, TrackId>> lanes;
  std::vector<std::pair<size_t, int64_t>> by_step;

  void add_to_step(size_t step, int64_t duration) {
    if (by_step.empty() || by_step.back().first != step) by_step.emplace_back(step, 0);
    by_step.back().second += duration;
  }
};

// The key of a slice by the question's rule; nothing when the slice does not take part.
class Keys {
 public:
  Keys(const Run& run, const Question& question, StringTable& texts)
      : run_(run), trace_(*run.trace), kinds_(*run.trace), question_(question), texts_(texts) {
    if (question.by.starts_with("arg:")) arg_ = trace_.key(question.by.substr(4));
    op_ = trace_.key("op");
    module_ = trace_.key("hlo_module");
    by_label_.assign(trace_.labels().size(), kUnknown);
  }

  static constexpr uint32_t kUnknown = UINT32_MAX, kNot = UINT32_MAX - 1;

  // Before the slices of a track; stacks are known from here on.
  void begin_track(TrackId t) {
    if (question_.by != "stack") return;
    const trace::Track& track = trace_.tracks()[t];
    first_ = track.first_slice;
    paths_.assign(track.slices, 0);
    std::vector<std::pair<int64_t, uint32_t>> open;  // end, path
    for (SliceId s = first_; s < first_ + track.slices; ++s) {
      while (!open.empty() && open.back().first <= trace_.begin(s).value) open.pop_back();
      std::string path = open.empty() || open.size() > kDeepest
                             ? std::string()
                             : std::string(texts_.text(open.back().second)) + ";";
      path += question_.normalises_names ? normal_name(trace_.shown_name(s))
                                         : std::string(trace_.shown_name(s));
      paths_[s - first_] = texts_.id(path);
      open.emplace_back(trace_.end(s).value, paths_[s - first_]);
    }
  }

  uint32_t of(TrackId track, SliceId s) {
    const std::string& by = question_.by;
    if (by == "stack") return paths_[s - first_];
    if (by.starts_with("arg:")) {
      const auto value = trace_.find(s, arg_);
      return value ? texts_.id(trace_.printed(*value)) : kNot;
    }
    if (by == "lane") return lane(track);
    if (by == "op") {
      const std::string_view op = trace_.text_of(trace_.find(trace_.args(s), op_));
      if (!op.empty()) return texts_.id(op == "unknown" ? trace_.shown_name(s) : op);
    }
    if (by == "kernel") {
      const Kind kind = kinds_.of(track, s);
      if (kind != Kind::kKernel && kind != Kind::kCommunication) return kNot;
      if (!kinds_.is_device(track) && run_.category(s).empty()) return kNot;
    }
    if (by == "module" && module_ != trace::kNone) {
      const std::string_view module = trace_.text_of(trace_.find(s, module_));
      if (!module.empty()) return texts_.id(module);
    }
    uint32_t& known = by_label_[trace_.label_id(s)];
    if (known == kUnknown) known = of_label(s);
    return known;
  }

 private:
  uint32_t of_label(SliceId s) {
    const std::string& by = question_.by;
    const std::string_view category = run_.category(s);
    if (by == "cat") return texts_.id(category.empty() ? "(none)" : category);
    if (by == "annotation") {
      const bool is = category == "user_annotation" || category == "gpu_user_annotation";
      return is ? texts_.id(trace_.shown_name(s)) : kNot;
    }
    if (by == "module") {
      const std::string_view name = trace_.name(s);
      return name.starts_with("nn.Module: ") ? texts_.id(name.substr(11)) : kNot;
    }
    if (by == "op") {
      if (category == "cpu_op" || category == "Operator") return texts_.id(trace_.name(s));
      const capture::OpName op = capture::parse_op_name(trace_.name(s));
      if (op.is_known()) return texts_.id(op.type);
      return kNot;
    }
    const std::string_view name = trace_.shown_name(s);
    return texts_.id(question_.normalises_names ? normal_name(name) : std::string(name));
  }

  uint32_t lane(TrackId track) {
    const TrackId parent = trace_.tracks()[track].parent;
    const std::string name =
        fmt::format("{} / {}", parent == trace::kNone ? "" : trace_.shown_track_name(parent),
                    trace_.shown_track_name(track));
    return texts_.id(name);
  }

  const Run& run_;
  const trace::Trace& trace_;
  Kinds kinds_;
  const Question& question_;
  StringTable& texts_;
  trace::KeyId arg_ = trace::kNone, op_, module_;
  static constexpr size_t kDeepest = 256;  // levels of a stack that are spelt out
  std::vector<uint32_t> by_label_, paths_;
  SliceId first_ = 0;
};

// Calls fn(slice, self time) for the slices of a track.
template <class Fn>
void for_each_self(const trace::Trace& trace, const trace::Track& track, const Fn& fn) {
  struct Open {
    SliceId slice;
    int64_t end, self;
  };
  std::vector<Open> open;
  const auto close = [&](int64_t until) {
    while (!open.empty() && open.back().end <= until) {
      fn(open.back().slice, std::max<int64_t>(0, open.back().self));
      open.pop_back();
    }
  };
  for (SliceId s = track.first_slice; s < track.first_slice + track.slices; ++s) {
    const int64_t begin = trace.begin(s).value, end = trace.end(s).value;
    close(begin);
    if (!open.empty()) open.back().self -= std::min(end, open.back().end) - begin;
    if (end == begin) {
      fn(s, 0);
    } else {
      open.push_back({s, end, end - begin});
    }
  }
  close(INT64_MAX);
}

int64_t busy_of(const trace::Trace& trace, const trace::Track& track) {
  int64_t busy = 0, covered = INT64_MIN;
  for (SliceId s = track.first_slice; s < track.first_slice + track.slices; ++s) {
    const int64_t begin = std::max(covered, trace.begin(s).value), end = trace.end(s).value;
    if (end > begin) busy += end - begin;
    covered = std::max(covered, end);
  }
  return busy;
}

bool is_memory(const trace::Trace& trace, TrackId t) {
  const TrackId parent = trace.tracks()[t].parent;
  if (parent != trace::kNone && trace.track_name(parent) == "Allocators") return true;
  const std::string_view name = trace.track_name(t);
  return name.find("emory") != std::string_view::npos ||
         name.find("Allocated") != std::string_view::npos;
}

RunTotal total_of(const Run& run, const RunFacts& facts) {
  RunTotal total;
  total.facts = facts;
  total.span = run.span_ps();
  const trace::Trace& trace = *run.trace;
  const Kinds kinds(trace);
  for (TrackId t = 0; t < trace.tracks().size(); ++t) {
    const trace::Track& track = trace.tracks()[t];
    if (track.kind == TrackKind::kCounter && is_memory(trace, t)) {
      for (uint32_t p = track.first_point; p < track.first_point + track.points; ++p)
        total.peak_bytes = std::max(total.peak_bytes, trace.point_value(p));
    }
    if (track.slices == 0 || track.kind == TrackKind::kAggregate) continue;
    total.slices += track.slices;
    for (uint32_t i = 0; i < track.slices; ++i)
      total.total += trace.duration(track.first_slice + i).value;
    const int64_t busy = busy_of(trace, track);
    if (!kinds.is_device(t)) {
      total.host += busy;
    } else if (kinds.of(t, track.first_slice) == Kind::kCopy) {
      total.copies += busy;
    } else {
      total.device += busy;
    }
  }
  return total;
}

// The time of a step by kind; where kinds overlap, the one of the highest priority owns it.
class StepSweep {
 public:
  explicit StepSweep(const Run& run) : trace_(*run.trace) {
    const Kinds kinds(trace_);
    for (TrackId t = 0; t < trace_.tracks().size(); ++t) {
      const trace::Track& track = trace_.tracks()[t];
      if (track.kind == TrackKind::kAggregate) continue;
      std::array<int64_t, kKinds> covered;
      covered.fill(INT64_MIN);
      for (SliceId s = track.first_slice; s < track.first_slice + track.slices; ++s) {
        const int64_t begin = trace_.begin(s).value, end = trace_.end(s).value;
        const auto kind = static_cast<size_t>(kinds.of(t, s));
        if (end <= covered[kind] || end <= begin) continue;
        covered[kind] = end;
        edges_.push_back({begin, static_cast<uint8_t>(kind), 1});
        edges_.push_back({end, static_cast<uint8_t>(kind), -1});
      }
      if (track.kind == TrackKind::kCounter && is_memory(trace_, t)) counters_.push_back(t);
    }
    std::sort(edges_.begin(), edges_.end(),
              [](const Edge& a, const Edge& b) { return a.time < b.time; });
  }

  // Steps in order of time that do not overlap are answered in one pass over the edges.
  std::vector<StepTotal> run(const std::vector<StepSpan>& steps, size_t run_number) {
    std::vector<StepTotal> totals;
    for (const StepSpan& span : steps) {
      StepTotal total;
      total.run = run_number;
      total.span = span;
      sweep(total);
      for (const TrackId t : counters_) {
        const trace::Track& track = trace_.tracks()[t];
        for (uint32_t p = track.first_point; p < track.first_point + track.points; ++p) {
          const int64_t at = trace_.point_time(p).value;
          if (at >= span.begin && at <= span.end)
            total.peak_bytes = std::max(total.peak_bytes, trace_.point_value(p));
        }
      }
      totals.push_back(std::move(total));
    }
    return totals;
  }

 private:
  struct Edge {
    int64_t time;
    uint8_t kind;
    int8_t change;
  };

  void sweep(StepTotal& total) {
    if (next_ > 0 && edges_[next_ - 1].time > total.span.begin) restart();
    int64_t at = total.span.begin;
    const auto pass = [&](int64_t until) {
      if (until <= at) return;
      const int64_t length = until - at;
      at = until;
      const bool communicates = open_[static_cast<size_t>(Kind::kCommunication)] > 0;
      if (communicates) {
        total.communication += length;
        if (open_[static_cast<size_t>(Kind::kKernel)] == 0) total.exposed += length;
      }
      for (size_t k = 0; k < kKinds; ++k) {
        if (open_[k] == 0) continue;
        total.kind[k] += length;
        return;
      }
      total.idle += length;
    };
    for (; next_ < edges_.size() && edges_[next_].time < total.span.end; ++next_) {
      pass(edges_[next_].time);
      open_[edges_[next_].kind] += edges_[next_].change;
    }
    pass(total.span.end);
  }
  void restart() {
    next_ = 0;
    open_.fill(0);
  }

  const trace::Trace& trace_;
  std::vector<Edge> edges_;
  std::vector<TrackId> counters_;
  size_t next_ = 0;
  std::array<int64_t, kKinds> open_{};
};

KeyTotal finished(std::string key, Gathered& gathered) {
  KeyTotal total;
  total.key = std::move(key);
  auto& durations = gathered.durations;
  std::sort(durations.begin(), durations.end());
  total.count = durations.size();
  for (const int64_t d : durations) total.total += d;
  total.self = gathered.self;
  total.least = durations.front();
  total.most = durations.back();
  const auto rank = [&](double share) {  // nearest rank
    const auto at = static_cast<size_t>(std::ceil(share * static_cast<double>(durations.size())));
    return durations[std::max<size_t>(at, 1) - 1];
  };
  total.p50 = rank(0.5);
  total.p95 = rank(0.95);
  total.lanes = static_cast<uint32_t>(gathered.lanes.size());
  total.first = gathered.first;
  total.last = gathered.last;
  return total;
}

}  // namespace

Totals add_up(std::span<const Run> runs, const Filter& filter, const Question& question) {
  Totals totals;
  const std::vector<RunFacts> facts = judge(runs);
  StringTable texts;
  std::vector<Gathered> gathered;
  for (size_t r = 0; r < runs.size(); ++r) {
    const Run& run = runs[r];
    totals.runs.push_back(total_of(run, facts[r]));
    if (facts[r].is_warmup && !question.includes_warmup) continue;
    ++totals.counted_runs;
    totals.wall += run.span_ps();
    if (question.by == "step" || question.counts_steps) {
      for (StepTotal& step : StepSweep(run).run(steps_of(run), r))
        totals.steps.push_back(std::move(step));
      if (question.by == "step") continue;
    }
    const auto first_step = std::partition_point(totals.steps.begin(), totals.steps.end(),
                                                 [&](const StepTotal& s) { return s.run < r; });
    const size_t step_count = totals.steps.end() - first_step;
    const auto step_at = [&](int64_t time) {  // index into totals.steps; its size for none
      auto after =
          std::upper_bound(first_step, totals.steps.end(), time,
                           [](int64_t at, const StepTotal& step) { return at < step.span.begin; });
      if (after == first_step || time >= (after - 1)->span.end) return totals.steps.size();
      return static_cast<size_t>(after - 1 - totals.steps.begin());
    };
    Keys keys(run, question, texts);
    const Filter::ForRun keeps(filter, run);
    const int64_t zero = run.begin().value;
    for (TrackId t = 0; t < run.trace->tracks().size(); ++t) {
      const trace::Track& track = run.trace->tracks()[t];
      if (track.slices == 0 || track.kind == TrackKind::kAggregate) continue;
      keys.begin_track(t);
      for_each_self(*run.trace, track, [&](SliceId s, int64_t self) {
        if (!filter.keeps_all() && !keeps.keeps(t, s)) return;
        const uint32_t key = keys.of(t, s);
        if (key == Keys::kNot) return;
        if (key >= gathered.size()) gathered.resize(key + 1);
        Gathered& g = gathered[key];
        g.durations.push_back(run.trace->duration(s).value);
        g.self += self;
        if (step_count > 0)
          g.add_to_step(step_at(run.trace->begin(s).value), *g.durations.rbegin());
        g.first = std::min(g.first, run.trace->begin(s).value - zero);
        g.last = std::max(g.last, run.trace->end(s).value - zero);
        const std::pair lane{r, t};
        if (g.lanes.empty() || (g.lanes.back() != lane)) g.lanes.push_back(lane);
      });
    }
  }
  for (uint32_t key = 0; key < gathered.size(); ++key) {
    if (gathered[key].durations.empty()) continue;
    totals.keys.push_back(finished(std::string(texts.text(key)), gathered[key]));
    if (totals.steps.empty()) continue;
    std::vector<double>& by_step = totals.keys.back().by_step;
    by_step.assign(totals.steps.size(), 0);
    for (const auto& [step, ps] : gathered[key].by_step) {
      if (step < by_step.size()) by_step[step] += static_cast<double>(ps);
    }
  }
  std::stable_sort(totals.keys.begin(), totals.keys.end(),
                   [](const KeyTotal& a, const KeyTotal& b) {
                     if (a.total != b.total) return a.total > b.total;
                     return a.key < b.key;
                   });
  return totals;
}

std::string normal_name(std::string_view name) {
  std::string out;
  int depth = 0;
  for (size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    const bool is_arrow = c == '>' && i > 0 && name[i - 1] == '-';
    if (c == '<' || c == '(') {
      ++depth;
    } else if ((c == '>' && !is_arrow) || c == ')') {
      depth = std::max(0, depth - 1);
    } else if (depth == 0) {
      const auto is_hex = [](char h) {
        return (h >= '0' && h <= '9') || (h >= 'a' && h <= 'f') || (h >= 'A' && h <= 'F');
      };
      size_t end = i;
      const bool has_mark = name.substr(i, 2) == "0x";
      if (has_mark) end += 2;
      bool digit = false, letter = false;
      while (end < name.size() && is_hex(name[end])) {
        digit |= name[end] >= '0' && name[end] <= '9';
        letter |= name[end] > '9';
        ++end;
      }
      const bool begins = i == 0 || !std::isalnum(static_cast<unsigned char>(name[i - 1]));
      const bool ends = end == name.size() || !std::isalnum(static_cast<unsigned char>(name[end]));
      if (begins && ends && (has_mark || (end - i >= 8 && digit && letter))) {
        out += "0x…";
        i = end - 1;
      } else {
        out.push_back(c);
      }
    }
  }
  if (out.starts_with("void ")) out.erase(0, 5);
  while (out.ends_with(' ')) out.pop_back();
  return out.empty() ? std::string(name) : out;
}

}  // namespace sonde::exports
