#include "capture/analysis/loop/marks.h"

#include <algorithm>
#include <map>

#include "capture/analysis/analysis.h"
#include "capture/analysis/loop/loop.h"
#include "capture/analysis/loop/recurring.h"
#include "capture/analysis/pytorch/capture.h"

namespace sonde::capture::loop {
namespace {

using trace::SliceId;
using trace::TrackId;

// So many marks so close to each other are calls of small operations, not steps.
constexpr size_t kManyMarks = 30;
constexpr double kSmallStepPs = 2e9;  // 2 ms

class Finder {
 public:
  Finder(const HostAnalysis& host, const std::vector<Word>& words,
         const std::vector<bool>& profiler)
      : host_(host), trace_(host.trace()), words_(words), profiler_(profiler) {}

  Marks run() {
    if (host_.is_pytorch() ? !marks_of_pytorch() : !marks_of_xspace()) marks_.list.clear();
    return std::move(marks_);
  }

 private:
  bool marks_of_pytorch() {
    const pytorch::Capture& c = host_.pytorch();
    marks_.open_end = !c.steps_marked;
    std::map<TrackId, std::vector<Mark>> by_track;
    if (c.steps_marked) {
      for (const pytorch::Node& node : c.nodes) {
        if (node.kind == pytorch::Kind::kStep)
          by_track[node.track].push_back({node.begin, node.end});
      }
    } else {
      for (TrackId t = 0; t < trace_.tracks().size(); ++t) {
        const trace::Track& track = trace_.tracks()[t];
        for (SliceId s = track.first_slice; s < track.first_slice + track.slices; ++s) {
          if (c.words.of(trace_, s).kind == pytorch::Kind::kOptimizer &&
              trace_.name(s).starts_with("Optimizer.step"))
            by_track[t].push_back({trace_.begin(s).value, trace_.end(s).value});
        }
      }
      if (by_track.empty()) {
        recurring_marks(by_track);
        marks_.rounds = true;
      }
    }
    return take_marks(by_track);
  }

  // Operators that no other is around, regions and functions of Python, of the busiest thread.
  void recurring_marks(std::map<TrackId, std::vector<Mark>>& by_track) const {
    TrackId busiest = trace::kNone;
    for (TrackId t = 0; t < trace_.tracks().size(); ++t) {
      const trace::Track& track = trace_.tracks()[t];
      if (track.kind != trace::TrackKind::kThread || track.slices == 0) continue;
      if (busiest == trace::kNone || track.slices > trace_.tracks()[busiest].slices) busiest = t;
    }
    if (busiest == trace::kNone) return;
    const trace::Track& track = trace_.tracks()[busiest];
    std::vector<Occurrence> occurrences;
    int64_t call_end = INT64_MIN;
    for (SliceId s = track.first_slice; s < track.first_slice + track.slices; ++s) {
      const Word word = words_[trace_.label_id(s)];
      const int64_t begin = trace_.begin(s).value, end = trace_.end(s).value;
      if (word == Word::kSkip || end <= begin || begin < call_end) continue;
      if (word != Word::kFrame && word != Word::kMark) call_end = end;
      if (profiler_[trace_.label_id(s)]) continue;
      occurrences.push_back({{begin, end}, trace_.label_id(s)});
    }
    for (const Range& range : recurring(occurrences, Rounds::kAgreed))
      by_track[busiest].push_back({range.begin, range.end});
  }

  bool marks_of_xspace() {
    const Grouping& grouping = host_.grouping();
    std::map<TrackId, std::vector<Mark>> by_track;
    for (const Step& step : host_.steps().steps) {
      const SliceId root = grouping.groups[static_cast<size_t>(step.group)].root;
      if (root == trace::kNone) continue;
      by_track[trace_.track_of(root)].push_back({trace_.begin(root).value, trace_.end(root).value});
    }
    if (!take_marks(by_track) || are_small_calls()) recurring_calls();
    return marks_.list.size() >= 2;
  }

  // Steps that were derived from calls of a program which is only one small operation of a step.
  bool are_small_calls() const {
    if (host_.grouping().derived_rule.empty() || marks_.list.size() < kManyMarks) return false;
    std::vector<double> distances;
    for (size_t i = 1; i < marks_.list.size(); ++i)
      distances.push_back(static_cast<double>(marks_.list[i].begin - marks_.list[i - 1].begin));
    return median(std::move(distances)) < kSmallStepPs;
  }

  // Nothing is marked and operations run one by one: the rounds of the operations' names.
  void recurring_calls() {
    std::vector<Occurrence> longest;
    TrackId thread = trace::kNone;
    for (const TrackId plane : host_.words().host_planes) {
      for (const TrackId t : lines_of(trace_, plane)) {
        const trace::Track& track = trace_.tracks()[t];
        std::vector<Occurrence> found;
        for (SliceId s = track.first_slice; s < track.first_slice + track.slices; ++s) {
          const std::string_view name = trace_.name(s);
          if (!name.starts_with("PjitFunction(") && !name.starts_with("EagerLocalExecute: "))
            continue;
          found.push_back({{trace_.begin(s).value, trace_.end(s).value}, trace_.label_id(s)});
        }
        if (found.size() > longest.size()) longest = std::move(found), thread = t;
      }
    }
    if (longest.size() < kManyMarks) return;
    const Ranges rounds = recurring(longest, Rounds::kLongest);
    if (rounds.size() < 3) return;
    marks_.thread = thread;
    marks_.list.clear();
    for (const Range& range : rounds) marks_.list.push_back({range.begin, range.end});
    marks_.open_end = marks_.rounds = true;
  }

  bool take_marks(std::map<TrackId, std::vector<Mark>>& by_track) {
    size_t most = 0;
    for (auto& [track, marks] : by_track) {
      if (marks.size() <= most) continue;
      most = marks.size();
      marks_.thread = track;
      marks_.list = std::move(marks);
    }
    std::stable_sort(marks_.list.begin(), marks_.list.end(),
                     [](const Mark& a, const Mark& b) { return a.begin < b.begin; });
    return marks_.list.size() >= 2;
  }

  const HostAnalysis& host_;
  const trace::Trace& trace_;
  const std::vector<Word>& words_;
  const std::vector<bool>& profiler_;
  Marks marks_;
};

}  // namespace

Marks marks_of(const HostAnalysis& host, const std::vector<Word>& words,
               const std::vector<bool>& profiler) {
  return Finder(host, words, profiler).run();
}

}  // namespace sonde::capture::loop
