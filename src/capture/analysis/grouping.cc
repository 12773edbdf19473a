#include "capture/analysis/grouping.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <map>
#include <string_view>

namespace sonde::capture {
namespace {

using trace::SliceId;
using trace::TrackId;

struct Root {
  SliceId slice;
  int64_t level;
};

class Grouper {
 public:
  Grouper(const trace::Trace& trace, const Vocabulary& words, const Forest& forest)
      : trace_(trace), words_(words), forest_(forest) {
    seen_meeting_.assign(forest.meeting_count(), Grouping::kNoGroup);
    if (!words.has_group_ids) index_meetings();
  }

  Grouping run() {
    result_.of.assign(trace_.slice_count(), Grouping::kNoGroup);
    result_.eager.assign(trace_.slice_count(), 0);
    if (words_.has_group_ids) {
      take_recorded();
      device_steps();
      return std::move(result_);
    }
    if (!words_.has_loops) {
      find_tf_data_ids();
      if (!group_loops()) group_roots(marked_roots());
    }
    // A TPU's steps are on its own Steps line; host calls say little about them.
    if (!has_steps() && words_.tpu_planes.empty()) derive_steps();
    mark_eager();
    fill_devices();
    device_steps();
    group_cores();
    return std::move(result_);
  }

 private:
  std::optional<trace::ArgValue> own(SliceId s, trace::KeyId key) const {
    return trace_.find(trace_.args(s), key);
  }
  HostEvent event_of(SliceId s) const { return words_.labels[trace_.label_id(s)].event; }

  // Which meetings a slice produces into: every slice is asked, so a search for each is too slow.
  void index_meetings() {
    first_meeting_.assign(size_t{trace_.slice_count()} + 1, 0);
    const auto for_each = [&](const auto& fn) {
      for (uint32_t id = 0; id < forest_.meeting_count(); ++id) {
        const Forest::Rendezvous& m = forest_.meeting(id);
        for (uint32_t i = 0; i < m.producer_count; ++i) fn(forest_.member(m.first + i), id);
      }
    };
    for_each([&](SliceId s, uint32_t) { ++first_meeting_[s + 1]; });
    for (size_t s = 1; s < first_meeting_.size(); ++s) first_meeting_[s] += first_meeting_[s - 1];
    meetings_.resize(first_meeting_.back());
    for_each([&](SliceId s, uint32_t id) { meetings_[first_meeting_[s]++] = id; });
    // Every begin has moved to its end, which is the next one's begin: one place back.
    for (size_t s = first_meeting_.size(); s-- > 1;) first_meeting_[s] = first_meeting_[s - 1];
    first_meeting_[0] = 0;
  }

  void take_recorded() {
    result_.recorded = true;
    const Keys& key = words_.key;
    int64_t largest = -1;
    for (SliceId s = 0; s < trace_.slice_count(); ++s) {
      const trace::ArgRange range = trace_.args(s);
      for (uint32_t a = range.first; a < range.first + range.count; ++a) {
        const trace::Arg arg = trace_.arg(a);
        if (arg.key == key.group_id) {
          const int64_t group = arg.value.as_int();
          if (group >= 0 && group < (1 << 28)) {
            result_.of[s] = static_cast<int32_t>(group);
            largest = std::max(largest, group);
          }
        } else if (arg.key == key.is_eager) {
          result_.eager[s] = arg.value.as_int() != 0;
        }
      }
    }
    // A hostile group number must not decide how much is allocated.
    std::map<int32_t, int32_t> renumber;
    if (largest > static_cast<int64_t>(trace_.slice_count()) + 1000) {
      for (const int32_t g : result_.of) {
        if (g >= 0) renumber.emplace(g, 0);
      }
      int32_t next = 0;
      for (auto& [old, now] : renumber) now = next++;
      for (int32_t& g : result_.of) {
        if (g >= 0) g = renumber[g];
      }
      largest = next - 1;
    }
    result_.groups.resize(static_cast<size_t>(largest + 1));
    for (size_t g = 0; g < result_.groups.size(); ++g)
      result_.groups[g].name = fmt::format("{}", g);
    for (SliceId s = 0; s < trace_.slice_count(); ++s) {
      if (result_.of[s] < 0) continue;
      Group& group = result_.groups[static_cast<size_t>(result_.of[s])];
      const auto name = own(s, key.step_name);
      if (!name || group.is_named) continue;
      const std::string_view text = trace_.text_of(name);
      group.name = text.empty() ? trace_.printed(*name) : std::string(text);
      group.root = s;
      group.is_named = true;
    }
  }

  void find_tf_data_ids() {
    for (SliceId s = 0; s < trace_.slice_count(); ++s) {
      if (event_of(s) != HostEvent::kCapturedFunction) continue;
      if (const auto id = own(s, words_.key.id)) tf_data_ids_.insert(id->as_uint());
    }
  }
  bool in_tf_data(SliceId s) const {
    if (tf_data_ids_.empty()) return false;
    const auto id = own(s, words_.key.id);
    return id && tf_data_ids_.contains(id->as_uint());
  }

  // Loops of TF 1: every iteration is a step. False when there are none.
  bool group_loops() {
    std::map<uint64_t, std::map<uint64_t, std::vector<SliceId>>> loops;
    if (words_.key.iter_num == trace::kNone) return false;
    for (SliceId s = 0; s < trace_.slice_count(); ++s) {
      if (event_of(s) != HostEvent::kExecutorProcess || !forest_.is_node(s)) continue;
      const auto id = own(s, words_.key.id), iteration = own(s, words_.key.iter_num);
      if (id && iteration && !in_tf_data(s))
        loops[id->as_uint()][iteration->as_uint()].push_back(s);
    }
    std::vector<std::vector<SliceId>> iterations;
    for (auto& [id, by_number] : loops) {
      if (by_number.size() == 1 && by_number.begin()->first == 0) continue;
      for (auto& [number, slices] : by_number) {
        std::stable_sort(slices.begin(), slices.end(),
                         [&](SliceId a, SliceId b) { return trace_.begin(a) < trace_.begin(b); });
        iterations.push_back(std::move(slices));
      }
    }
    if (iterations.empty()) return false;
    std::stable_sort(iterations.begin(), iterations.end(), [&](const auto& a, const auto& b) {
      return trace_.begin(a[0]) < trace_.begin(b[0]);
    });
    for (const auto& slices : iterations) {
      const int32_t group = new_group(slices[0]);
      for (const SliceId s : slices) propagate(s, group);
    }
    return true;
  }

  std::optional<int64_t> root_level(SliceId s) const {
    switch (event_of(s)) {
      case HostEvent::kProcessBatch:
        return 2;
      case HostEvent::kBatchingSessionRun:
        return 1;
      default:
        break;
    }
    if (words_.key.root != trace::kNone) {
      if (const auto level = own(s, words_.key.root)) return level->as_int();
    }
    if (event_of(s) == HostEvent::kTraceContext) return 1;
    return std::nullopt;
  }

  std::vector<Root> marked_roots() {
    std::vector<Root> roots;
    for (SliceId s = 0; s < trace_.slice_count(); ++s) {
      if (!forest_.is_node(s)) continue;
      const auto level = root_level(s);
      if (level && !in_tf_data(s)) roots.push_back({s, *level});
    }
    return roots;
  }

  void group_roots(std::vector<Root> roots) {
    boost::unordered_flat_map<SliceId, int64_t> level_of;
    for (const Root& root : roots) level_of.emplace(root.slice, root.level);
    std::stable_sort(roots.begin(), roots.end(), [&](const Root& a, const Root& b) {
      if (a.level != b.level) return a.level > b.level;
      return trace_.begin(a.slice) < trace_.begin(b.slice);
    });
    for (const Root& root : roots) {
      if (result_.of[root.slice] != Grouping::kNoGroup) continue;
      bool covered = false;
      for_each_ancestor(root.slice, [&](SliceId s) {
        if (s == root.slice) return true;
        const auto found = level_of.find(s);
        covered = found != level_of.end() && found->second == root.level;
        return !covered;
      });
      if (!covered) propagate(root.slice, new_group(root.slice));
    }
  }

  // Breadth-first over nesting and connections, s first; stops when fn returns false.
  template <class Fn>
  void for_each_ancestor(SliceId s, const Fn& fn) const {
    std::vector<SliceId> queue{s};
    boost::unordered_flat_set<SliceId> seen;
    for (size_t i = 0; i < queue.size() && i < kMaxAncestors; ++i) {
      if (!fn(queue[i])) return;
      const auto push = [&](SliceId p) {
        if (p != trace::kNone && seen.insert(p).second) queue.push_back(p);
      };
      push(forest_.parent(queue[i]));
      forest_.for_each_producer(queue[i], push);
    }
  }

  bool is_implicit(SliceId s) const {
    const HostEvent event = event_of(s);
    return event == HostEvent::kFunctionRun || event == HostEvent::kSessionRun ||
           event == HostEvent::kRunGraph || event == HostEvent::kExecutorProcess;
  }

  int32_t new_group(SliceId root) {
    const auto id = static_cast<int32_t>(result_.groups.size());
    std::string_view graph_type;
    std::optional<trace::ArgValue> iteration, step;
    for_each_ancestor(root, [&](SliceId s) {
      if (graph_type.empty()) graph_type = trace_.text_of(own(s, words_.key.graph_type));
      if (!iteration) iteration = own(s, words_.key.iter_num);
      if (!step) step = own(s, words_.key.step_num);
      return graph_type.empty() || !iteration || !step;
    });
    Group group;
    group.root = root;
    group.is_named = !is_implicit(root);
    if (!graph_type.empty()) {
      group.name = fmt::format("{} ", graph_type);
    } else if (group.is_named) {
      group.name = fmt::format("{} ", trace_.name(root));
    }
    group.name += iteration ? trace_.printed(*iteration)
                  : step    ? trace_.printed(*step)
                            : fmt::format("{}", id);
    result_.groups.push_back(std::move(group));
    return id;
  }

  // Gives the group to everything reachable below; what has one already is not entered.
  void propagate(SliceId start, int32_t group) {
    std::vector<SliceId> stack{start};
    const auto enter = [&](SliceId s) {
      result_.of[s] = group;
      for (uint32_t at = first_meeting_[s]; at < first_meeting_[s + 1]; ++at) {
        const uint32_t id = meetings_[at];
        if (seen_meeting_[id] == group) continue;
        seen_meeting_[id] = group;
        const Forest::Rendezvous& m = forest_.meeting(id);
        for (uint32_t i = 0; i < m.consumer_count; ++i)
          stack.push_back(forest_.member(m.first + m.producer_count + i));
      }
    };
    while (!stack.empty()) {
      const SliceId top = stack.back();
      stack.pop_back();
      if (result_.of[top] != Grouping::kNoGroup) continue;
      enter(top);
      if (!forest_.is_nested_node(top)) continue;
      for (SliceId s = top + 1; s < forest_.subtree_end(top);) {
        if (!forest_.is_nested_node(s)) {
          ++s;
        } else if (result_.of[s] != Grouping::kNoGroup) {
          s = forest_.subtree_end(s);
        } else {
          enter(s++);
        }
      }
    }
  }

  bool has_steps() const {
    for (const Group& group : result_.groups) {
      if (group.is_named) return true;
    }
    return false;
  }

  void restart() {
    std::fill(result_.of.begin(), result_.of.end(), Grouping::kNoGroup);
    std::fill(seen_meeting_.begin(), seen_meeting_.end(), Grouping::kNoGroup);
    result_.groups.clear();
  }

  // Steps of programs that marked none: see profile_02 rule order in docs/profile_numbers.md.
  void derive_steps() {
    std::vector<Root> roots;
    for (SliceId s = 0; s < trace_.slice_count() && words_.key.step_num != trace::kNone; ++s) {
      if (!forest_.is_nested_node(s) || !own(s, words_.key.step_num)) continue;
      bool nested = false;
      for (SliceId p = forest_.parent(s); p != trace::kNone && !nested; p = forest_.parent(p))
        nested = own(p, words_.key.step_num).has_value();
      if (!nested) roots.push_back({s, 1});
    }
    if (roots.size() > 1) {
      restart();
      group_roots(std::move(roots));
      result_.derived_rule = "events that carry step_num but are not marked as steps (_r)";
      return;
    }
    if (derive_from_functions()) return;
    derive_from_modules();
  }

  // The tf.function with the largest total time: each of its calls is a step.
  bool derive_from_functions() {
    std::map<std::string_view, int64_t> total;
    std::map<std::string_view, std::vector<Root>> calls;
    for (SliceId s = 0; s < trace_.slice_count(); ++s) {
      if (words_.key.tf_function_call == trace::kNone) break;
      if (!forest_.is_nested_node(s) || !own(s, words_.key.tf_function_call)) continue;
      total[trace_.name(s)] += trace_.duration(s).value;
      calls[trace_.name(s)].push_back({s, 1});
    }
    return use_most(total, calls, "calls of the tf.function with the largest total time");
  }

  // JAX: executions of the module with the largest total time.
  bool derive_from_modules() {
    std::map<std::string_view, int64_t> total;
    std::map<std::string_view, std::vector<Root>> runs;
    for (SliceId s = 0; s < trace_.slice_count(); ++s) {
      if (!forest_.is_nested_node(s)) continue;
      const std::string_view name = trace_.name(s);
      std::string_view module;
      if (name == "GpuExecutable::ExecuteThunks") {
        module = trace_.text_of(own(s, words_.key.module_name));
      } else if (name.starts_with("PjitFunction(")) {
        module = name;
      }
      if (module.empty()) continue;
      bool nested = false;
      for (SliceId p = forest_.parent(s); p != trace::kNone && !nested; p = forest_.parent(p))
        nested = trace_.name(p).starts_with("PjitFunction(");
      if (nested) continue;
      total[module] += trace_.duration(s).value;
      runs[module].push_back({s, 1});
    }
    return use_most(total, runs, "executions of the compiled program with the largest total time");
  }

  bool use_most(const std::map<std::string_view, int64_t>& total,
                std::map<std::string_view, std::vector<Root>>& runs, std::string_view rule) {
    std::string_view best;
    int64_t most = -1;
    for (const auto& [name, time] : total) {
      if (runs[name].size() > 1 && time > most) best = name, most = time;
    }
    if (most < 0) return false;
    restart();
    group_roots(runs[best]);
    result_.derived_rule = rule;
    return true;
  }

  void mark_eager() {
    if (words_.key.eager_op == trace::kNone && trace_.key("EagerExecute") == trace::kNone) return;
    for (SliceId s = 0; s < trace_.slice_count(); ++s) {
      if (!forest_.is_node(s)) continue;
      const HostEvent event = event_of(s);
      const bool kernel = event == HostEvent::kUnknown && is_kernel(s);
      if (event != HostEvent::kTfOp && !kernel) continue;
      for_each_ancestor(s, [&](SliceId a) {
        if (event_of(a) != HostEvent::kEagerExecute) return true;
        const auto is_function = own(a, words_.key.is_func);
        result_.eager[s] = is_function && is_function->as_int() == 0;
        return false;
      });
    }
  }

  bool is_kernel(SliceId s) const {
    if (words_.key.correlation_id == trace::kNone || !own(s, words_.key.correlation_id))
      return false;
    const TrackId t = trace_.track_of(s);
    return words_.planes[trace_.tracks()[t].parent] != PlaneKind::kHost;
  }

  // Slices of a device in time order (begin, shortest first), derived lines left out.
  std::vector<SliceId> device_order(TrackId plane) const {
    std::vector<SliceId> order;
    for (const TrackId t : lines_of(trace_, plane)) {
      if (words_.derived[t]) continue;
      const trace::Track& track = trace_.tracks()[t];
      for (uint32_t i = 0; i < track.slices; ++i) order.push_back(track.first_slice + i);
    }
    std::stable_sort(order.begin(), order.end(), [&](SliceId a, SliceId b) {
      if (trace_.begin(a) != trace_.begin(b)) return trace_.begin(a) < trace_.begin(b);
      return trace_.duration(a) < trace_.duration(b);
    });
    return order;
  }

  void fill_devices() {
    if (result_.groups.empty()) return;
    for (const TrackId plane : words_.gpu_planes) {
      int32_t last = Grouping::kNoGroup;
      for (const SliceId s : device_order(plane)) {
        if (result_.of[s] == Grouping::kNoGroup) {
          result_.of[s] = last;
        } else {
          last = result_.of[s];
        }
      }
    }
  }

  void device_steps() {
    for (const TrackId plane : words_.gpu_planes) {
      if (take_steps_line(plane)) continue;
      for (const SliceId s : device_order(plane)) {
        const int32_t group = result_.of[s];
        if (group == Grouping::kNoGroup) continue;
        auto& steps = result_.device_steps;
        const int64_t begin = trace_.begin(s).value, end = trace_.end(s).value;
        if (!steps.empty() && steps.back().plane == plane && steps.back().group == group) {
          steps.back().end = std::max(steps.back().end, end);
        } else {
          steps.push_back({plane, group, begin, end});
        }
      }
    }
  }

  // TPU cores run in lock step: the k-th event of each core's Steps line is step k. Without such
  // lines the executions of the program with the largest total time stand for steps.
  void group_cores() {
    if (words_.tpu_planes.empty()) return;
    std::vector<std::vector<SliceId>> cores;
    const auto line_named = [&](TrackId plane, std::string_view name) -> const trace::Track* {
      for (const TrackId t : lines_of(trace_, plane)) {
        if (trace_.track_name(t) == name && trace_.tracks()[t].slices != 0)
          return &trace_.tracks()[t];
      }
      return nullptr;
    };
    bool marked = false;
    for (const TrackId plane : words_.tpu_planes) marked |= line_named(plane, "Steps") != nullptr;
    const std::string_view program = marked ? std::string_view() : longest_program(line_named);
    if (!marked && program.empty()) return;
    restart();
    result_.device_steps.clear();
    for (const TrackId plane : words_.tpu_planes) {
      const trace::Track* track = line_named(plane, marked ? "Steps" : "XLA Modules");
      if (!track) continue;
      int32_t group = 0;
      const size_t first = result_.device_steps.size();
      for (SliceId s = track->first_slice; s < track->first_slice + track->slices; ++s) {
        if (!marked && trace_.name(s) != program) continue;
        if (static_cast<size_t>(group) == result_.groups.size()) {
          Group added;
          added.name = marked ? std::string(trace_.shown_name(s)) : fmt::format("{}", group);
          added.root = s;
          added.is_named = true;
          result_.groups.push_back(std::move(added));
        }
        result_.device_steps.push_back(
            {plane, group++, trace_.begin(s).value, trace_.end(s).value});
      }
      give_groups(plane, first);
    }
    if (!marked)
      result_.derived_rule = "executions of the compiled program with the largest total time";
  }

  template <class LineNamed>
  std::string_view longest_program(const LineNamed& line_named) const {
    std::map<std::string_view, std::pair<int64_t, int64_t>> programs;  // runs, time
    for (const TrackId plane : words_.tpu_planes) {
      const trace::Track* track = line_named(plane, "XLA Modules");
      if (!track) continue;
      for (SliceId s = track->first_slice; s < track->first_slice + track->slices; ++s) {
        auto& [runs, time] = programs[trace_.name(s)];
        ++runs;
        time += trace_.duration(s).value;
      }
    }
    std::string_view best;
    int64_t most = 0;
    for (const auto& [name, sums] : programs) {
      const bool repeats = sums.first > static_cast<int64_t>(words_.tpu_planes.size());
      if (repeats && sums.second > most) best = name, most = sums.second;
    }
    return best;
  }

  // The ops of a core belong to the step whose span they begin in; spans from `first` on are its.
  void give_groups(TrackId plane, size_t first) {
    const auto& steps = result_.device_steps;
    for (const TrackId t : lines_of(trace_, plane)) {
      const trace::Track& track = trace_.tracks()[t];
      size_t at = first;
      for (SliceId s = track.first_slice; s < track.first_slice + track.slices; ++s) {
        const int64_t begin = trace_.begin(s).value;
        while (at < steps.size() && steps[at].end <= begin) ++at;
        if (at == steps.size()) break;
        if (steps[at].begin <= begin) result_.of[s] = steps[at].group;
      }
    }
  }

  // A Steps line that the file brought.
  bool take_steps_line(TrackId plane) {
    bool found = false;
    for (const TrackId t : lines_of(trace_, plane)) {
      if (trace_.track_name(t) != "Steps") continue;
      const trace::Track& track = trace_.tracks()[t];
      for (SliceId s = track.first_slice; s < track.first_slice + track.slices; ++s) {
        if (result_.of[s] == Grouping::kNoGroup) continue;
        result_.device_steps.push_back(
            {plane, result_.of[s], trace_.begin(s).value, trace_.end(s).value});
        found = true;
      }
    }
    return found;
  }

  static constexpr size_t kMaxAncestors = 100'000;  // bounds hostile chains

  const trace::Trace& trace_;
  const Vocabulary& words_;
  const Forest& forest_;
  Grouping result_;
  boost::unordered_flat_set<uint64_t> tf_data_ids_;
  std::vector<int32_t> seen_meeting_;
  std::vector<uint32_t> first_meeting_, meetings_;  // by producing slice
};

}  // namespace

Grouping group_slices(const trace::Trace& trace, const Vocabulary& words, const Forest& forest) {
  return Grouper(trace, words, forest).run();
}

}  // namespace sonde::capture
