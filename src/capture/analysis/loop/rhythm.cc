// What is usual in a loop, what stands out, and whose time it is.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/unordered/unordered_flat_map.hpp>
#include <numeric>
#include <utility>

#include "capture/analysis/loop/loop.h"

namespace sonde::capture::loop {
namespace {

// A period that takes this many times a usual one stands out.
constexpr double kOutlier = 1.8;
// Of a function's time, what has to be inside the moments for it to be their cause.
constexpr double kOnlyThat = 0.8;
// Of a function's time inside the moments: it does nothing else, and may be called less often.
constexpr double kNothingElse = 0.97;
// Of a function's time inside the moments, what the function it calls has to take to be named.
constexpr double kMostOfIt = 0.6;
constexpr size_t kNamed = 5;

double ms(int64_t ps) { return static_cast<double>(ps) / 1e9; }

// Sum of the list inside a range, in the time of a search.
class Measure {
 public:
  explicit Measure(const Ranges& ranges) : ranges_(ranges) {
    int64_t sum = 0;
    before_.reserve(ranges.size() + 1);
    for (const Range& r : ranges) {
      before_.push_back(sum);
      sum += r.length();
    }
    before_.push_back(sum);
  }
  int64_t until(int64_t time) const {
    const auto at = std::partition_point(ranges_.begin(), ranges_.end(),
                                         [&](const Range& r) { return r.begin < time; });
    if (at == ranges_.begin()) return 0;
    const Range& last = *(at - 1);
    return before_[static_cast<size_t>(at - ranges_.begin()) - 1] + std::min(time, last.end) -
           last.begin;
  }
  int64_t inside(int64_t begin, int64_t end) const { return until(end) - until(begin); }

 private:
  const Ranges& ranges_;
  std::vector<int64_t> before_;
};

std::string shown(const Frame& frame, bool with_place) {
  std::string_view file = frame.file;
  if (frame.builtin) {
    if (file.empty() && frame.function == "collect") return "gc.collect";
    return file.empty() ? std::string(frame.function) : fmt::format("{}.{}", file, frame.function);
  }
  if (const size_t slash = file.rfind('/'); slash != std::string_view::npos)
    file = file.substr(slash + 1);
  if (!with_place || file.empty()) return std::string(frame.function);
  return fmt::format("{} ({}:{})", frame.function, file, frame.line);
}

// The distance of the outliers when they come evenly and none is missing at either end; else 0.
size_t distance(const std::vector<size_t>& outliers, size_t periods) {
  if (outliers.size() < 2) return 0;
  const size_t step = outliers[1] - outliers[0];
  for (size_t i = 2; i < outliers.size(); ++i) {
    if (outliers[i] - outliers[i - 1] != step) return 0;
  }
  // What follows the last step may not be recorded.
  const bool whole = outliers.front() < step && outliers.back() + step + 1 >= periods;
  return step >= 2 && whole ? step : 0;
}

// Steps that do more than the others, whatever a busy machine made of their times.
bool by_work(const Loop& loop, const std::vector<double>& lengths, Rhythm& r,
             std::vector<double>& usual) {
  if (lengths.size() < 4) return false;
  std::vector<double> counts;
  for (const Period& p : loop.periods) counts.push_back(p.slices);
  std::vector<double> sorted = counts;
  std::sort(sorted.begin(), sorted.end());
  const double least = sorted[sorted.size() / 4];
  std::vector<size_t> more;
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] > 1.2 * least && counts[i] >= least + 10) more.push_back(i);
    // The others have to do the same.
    else if (counts[i] < 0.8 * least)
      return false;
  }
  if (more.empty() || 2 * more.size() > counts.size()) return false;
  if (more.size() > 1 && distance(more, counts.size()) == 0) return false;
  if (more.size() == 1 && more[0] == 0) return false;  // a warm-up
  std::vector<double> rest;
  std::vector<size_t> others;
  double longer = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    if (std::find(more.begin(), more.end(), i) != more.end()) {
      longer += lengths[i] / static_cast<double>(more.size());
      continue;
    }
    others.push_back(i);
    rest.push_back(lengths[i]);
  }
  if (longer < 1.3 * median(rest)) return false;
  r.outliers = std::move(more);
  r.usual = std::move(others);
  usual = std::move(rest);
  r.more_work = true;
  return true;
}

// Of steps that stand out, those that take by far the longest speak: one that was held up for a
// moment beside them is no exception and hides no rhythm.
void keep_the_longest(const std::vector<double>& lengths, Rhythm& r, std::vector<double>& usual) {
  if (r.outliers.size() < 2) return;
  double most = 0, all = 0, kept = 0;
  for (const size_t i : r.outliers) {
    most = std::max(most, lengths[i] - r.period_ms);
    all += lengths[i] - r.period_ms;
  }
  std::vector<size_t> longest;
  for (const size_t i : r.outliers) {
    if (lengths[i] - r.period_ms < 0.3 * most) continue;
    longest.push_back(i);
    kept += lengths[i] - r.period_ms;
  }
  if (longest.size() == r.outliers.size() || kept < 0.75 * all) return;
  if (longest.size() > 1 && distance(longest, lengths.size()) == 0) return;
  r.outliers = std::move(longest);
  r.usual.clear();
  usual.clear();
  for (size_t i = 0; i < lengths.size(); ++i) {
    if (std::ranges::find(r.outliers, i) != r.outliers.end()) continue;
    r.usual.push_back(i);
    usual.push_back(lengths[i]);
  }
}

// Work in every second step: half of the steps are long, so that the median tells nothing.
// Also where some of them are longer still.
void every_second(const std::vector<double>& lengths, Rhythm& r, std::vector<double>& usual) {
  for (const size_t first : {size_t{0}, size_t{1}}) {
    double shortest = 1e300, longest = 0;  // of the long ones, of the others
    for (size_t i = 0; i < lengths.size(); ++i) {
      if (i % 2 == first) {
        shortest = std::min(shortest, lengths[i]);
      } else {
        longest = std::max(longest, lengths[i]);
      }
    }
    if (shortest < kOutlier * longest) continue;
    r.usual.clear();
    r.outliers.clear();
    usual.clear();
    for (size_t i = 0; i < lengths.size(); ++i) {
      (i % 2 == first ? r.outliers : r.usual).push_back(i);
      if (i % 2 != first) usual.push_back(lengths[i]);
    }
    return;
  }
}

// A single step that is long by what takes much of every step is more of the same: a wait for input,
// or Python that was slow once more.
bool is_more_of_the_same(const Loop& loop, const std::vector<double>& lengths, const Rhythm& r,
                         double usual) {
  const size_t i = r.outliers[0];
  if (i == 0) return false;  // a buffer that fills, a warm-up
  double whole = 0;
  for (const size_t u : r.usual) whole += lengths[u];
  for (const auto& [act, much] :
       {std::pair{Act::kInput, 0.2}, std::pair{Act::kPython, 0.4}, std::pair{Act::kUnrecorded, 0.4},
        std::pair{Act::kCheckpoint, 0.4}, std::pair{Act::kCallback, 0.4},
        std::pair{Act::kCompile, 0.4}}) {
    double taken = 0;
    for (const size_t u : r.usual) taken += ms(loop.periods[u].of(act));
    const double more = ms(loop.periods[i].of(act)) -
                        taken / static_cast<double>(std::max<size_t>(1, r.usual.size()));
    if (more > 0.5 * (lengths[i] - usual) && taken > much * whole) return true;
  }
  return false;
}

// Where steps differ much, medians of their parts do not add up to anything.
bool is_scattered(const std::vector<double>& lengths) {
  if (lengths.size() < 4) return false;
  double mean = 0, square = 0;
  for (const double length : lengths) mean += length / static_cast<double>(lengths.size());
  for (const double length : lengths)
    square += (length - mean) * (length - mean) / static_cast<double>(lengths.size());
  return square > 0.09 * mean * mean;  // a third of the mean
}

// Long periods that come irregularly and do no more than the others wait for something that comes
// in bursts, like the batches of several workers: the time is lost in the long ones, but for all.
bool is_uneven(const Loop& loop, const std::vector<double>& lengths, const Rhythm& r,
               double usual) {
  if (r.more_work || r.outliers.empty()) return false;
  if (r.outliers.size() == 1) return is_more_of_the_same(loop, lengths, r, usual);
  std::array<double, kActCount> longer{};
  double extra = 0, input = 0, all = 0;
  for (const size_t i : r.outliers) {
    extra += lengths[i] - usual;
    for (size_t a = 0; a < kActCount; ++a) longer[a] += ms(loop.periods[i].of(static_cast<Act>(a)));
  }
  for (const double length : lengths) all += length;
  if (extra < 0.15 * all) return false;
  for (const size_t i : r.usual) {
    for (size_t a = 0; a < kActCount; ++a)
      longer[a] -= ms(loop.periods[i].of(static_cast<Act>(a))) *
                   static_cast<double>(r.outliers.size()) / static_cast<double>(r.usual.size());
  }
  input = longer[static_cast<size_t>(Act::kInput)];
  if (input > 0.5 * extra) return true;
  return distance(r.outliers, lengths.size()) == 0;
}

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

Rhythm rhythm_of(const Loop& loop) {
  Rhythm r;
  std::vector<double> lengths;
  for (const Period& p : loop.periods) lengths.push_back(ms(p.length()));
  r.period_ms = median(lengths);
  double all = 0, extra = 0;
  std::vector<double> usual;
  for (size_t i = 0; i < lengths.size(); ++i) {
    all += lengths[i];
    const bool out = lengths.size() >= 3 && lengths[i] > kOutlier * r.period_ms;
    (out ? r.outliers : r.usual).push_back(i);
    if (!out) usual.push_back(lengths[i]);
  }
  if (2 * r.outliers.size() >= lengths.size()) {  // so many that they are the rule
    r.usual.clear();
    for (size_t i = 0; i < lengths.size(); ++i) r.usual.push_back(i);
    r.outliers.clear();
    usual = lengths;
  }
  keep_the_longest(lengths, r, usual);
  if (!by_work(loop, lengths, r, usual) && lengths.size() >= 6) every_second(lengths, r, usual);
  if (is_uneven(loop, lengths, r, median(usual)) || (r.outliers.empty() && is_scattered(lengths))) {
    r.uneven = true;
    r.outliers.clear();
    r.usual.resize(lengths.size());
    std::iota(r.usual.begin(), r.usual.end(), size_t{0});
  }
  r.mean_ms = lengths.empty() ? 0 : all / static_cast<double>(lengths.size());
  r.usual_ms = r.uneven ? r.mean_ms : median(usual);
  for (const size_t i : r.outliers) extra += lengths[i] - r.usual_ms;
  r.extra_share = all == 0 ? 0 : extra / all;
  r.first_only = r.outliers.size() == 1 && r.outliers[0] == 0;
  r.every = distance(r.outliers, lengths.size());
  return r;
}

double usual_ms(const Loop& loop, const Rhythm& rhythm, Act act) {
  std::vector<double> values;
  for (const size_t i : rhythm.usual) values.push_back(ms(loop.periods[i].of(act)));
  if (rhythm.uneven) {
    double sum = 0;
    for (const double value : values) sum += value;
    return sum / static_cast<double>(values.size());
  }
  // Where steps that stand out take most of the time, what a usual one does matters little.
  double all = 0;
  for (const Period& p : loop.periods) all += ms(p.of(act));
  const double share =
      rhythm.mean_ms == 0 ? 0 : all / static_cast<double>(loop.periods.size()) / rhythm.mean_ms;
  if (!rhythm.outliers.empty() && rhythm.extra_share >= 0.5)
    return std::min(median(values), share * rhythm.usual_ms);
  return median(values);
}

Ranges inside(const Ranges& ranges, const Loop& loop, const std::vector<size_t>& periods) {
  Ranges windows;
  for (const size_t i : periods) windows.push_back({loop.periods[i].begin, loop.periods[i].end});
  return pytorch::intersection(ranges, pytorch::merged(std::move(windows)));
}

std::vector<Culprit> culprits(const trace::Trace& trace, const Loop& loop, const Ranges& moments) {
  std::vector<Culprit> out;
  if (loop.thread == trace::kNone || moments.empty()) return out;
  const Measure measure(moments);
  boost::unordered_flat_map<trace::LabelId, size_t> by_label;
  boost::unordered_flat_map<trace::LabelId, int64_t> covered;  // a function inside itself once
  const trace::Track& track = trace.tracks()[loop.thread];
  const int64_t from = loop.periods.front().begin, to = loop.periods.back().end;
  for (trace::SliceId s = track.first_slice; s < track.first_slice + track.slices; ++s) {
    const int64_t begin = trace.begin(s).value, end = trace.end(s).value;
    if (begin >= to) break;
    if (end <= from || end <= begin) continue;
    const int64_t part = measure.inside(begin, end);
    if (part <= 0) continue;
    const trace::LabelId label = trace.label_id(s);
    int64_t& known = covered.try_emplace(label, INT64_MIN).first->second;
    if (begin < known) continue;
    known = end;
    const auto [at, is_new] = by_label.try_emplace(label, out.size());
    if (is_new) out.push_back({label, 0, 0, 0, trace.depth(s)});
    Culprit& c = out[at->second];
    c.inside_ps += part;
    c.total_ps += end - begin;
    c.depth = std::min(c.depth, trace.depth(s));
    ++c.count;
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const Culprit& a, const Culprit& b) { return a.inside_ps > b.inside_ps; });
  return out;
}

namespace {

bool marks_step(const Loop& loop, int64_t begin, int64_t end) {
  const auto at = std::partition_point(loop.periods.begin(), loop.periods.end(),
                                       [&](const Period& p) { return p.begin < begin; });
  return at != loop.periods.end() && at->begin == begin && end >= at->marked_end;
}

}  // namespace

Path python_path(const trace::Trace& trace, const Loop& loop, const Ranges& moments) {
  Path path;
  if (moments.empty()) return path;
  // A tree by containment of the functions that have time inside the moments, added up by name
  // under the same parent.
  struct Node {
    trace::LabelId label;
    size_t parent;
    int64_t inside = 0, total = 0, first_begin = 0;
    uint32_t calls = 0;
    bool around_steps = false;
  };
  std::vector<Node> nodes{{trace::kNone, SIZE_MAX}};
  boost::unordered_flat_map<uint64_t, size_t> children;
  const Measure measure(moments);
  struct Open {
    size_t node;
    int64_t end;
  };
  std::vector<Open> open;
  const trace::Track& track = trace.tracks()[loop.thread];
  const int64_t to = loop.periods.back().end;
  std::vector<bool> frames;  // by label
  for (const trace::Label& label : trace.labels())
    frames.push_back(is_frame(trace.text(label.name)));
  for (trace::SliceId s = track.first_slice; s < track.first_slice + track.slices; ++s) {
    const int64_t begin = trace.begin(s).value, end = trace.end(s).value;
    if (begin >= to) break;
    const trace::LabelId label = trace.label_id(s);
    const bool region = label < loop.regions.size() && loop.regions[label];
    if (end <= begin || !(frames[label] || region) || (region && marks_step(loop, begin, end)))
      continue;
    const int64_t part = measure.inside(begin, end);
    if (part <= 0) continue;
    while (!open.empty() && open.back().end <= begin) open.pop_back();
    size_t depth = open.size();
    while (depth > 0 && open[depth - 1].end < end) --depth;
    const size_t parent = depth == 0 ? 0 : open[depth - 1].node;
    const uint64_t key = uint64_t{parent} << 32 | trace.label_id(s);
    const auto [at, is_new] = children.try_emplace(key, nodes.size());
    if (is_new) nodes.push_back({trace.label_id(s), parent});
    Node& node = nodes[at->second];
    node.inside += part;
    node.total += end - begin;
    ++node.calls;
    const auto next = std::partition_point(loop.periods.begin(), loop.periods.end(),
                                           [&](const Period& p) { return p.begin <= begin; });
    node.around_steps |= next != loop.periods.end() && next->begin < end;
    if (depth == open.size()) open.push_back({at->second, end});
  }
  // From the top, along what takes most, to the first that does little else.
  size_t at = 0;
  bool callable = false;  // path.function can be called less often
  int64_t all = 0;
  for (const Range& r : moments) all += r.length();
  while (true) {
    size_t best = SIZE_MAX;
    for (size_t n = 1; n < nodes.size(); ++n) {
      if (nodes[n].parent == at && (best == SIZE_MAX || nodes[n].inside > nodes[best].inside))
        best = n;
    }
    const int64_t whole = at == 0 ? all : nodes[at].inside;
    const bool started = !path.functions.empty();
    if (best == SIZE_MAX) break;
    const Node& node = nodes[best];
    if (static_cast<double>(node.inside) < (started ? kMostOfIt : 0.4) * static_cast<double>(whole))
      break;
    at = best;
    const bool only_that =
        static_cast<double>(node.inside) >= kOnlyThat * static_cast<double>(node.total);
    if (!started && (node.around_steps || !only_that)) continue;
    Frame frame = frame_of(trace.text(trace.labels()[node.label].name));
    if (!frames[node.label]) frame = {trace.text(trace.labels()[node.label].name), {}, 0, false};
    const bool is_function = frames[node.label];
    if (!started) {
      path.function = frame.function;
      path.inside_ps = node.inside;
      path.calls = node.calls;
      path.region = !is_function;
    }
    const bool nothing_else =
        static_cast<double>(node.inside) >= kNothingElse * static_cast<double>(node.total);
    if (!callable && nothing_else && is_function && !frame.builtin) {
      callable = true;
      path.function = frame.function;
    }
    path.functions.push_back(is_function
                                 ? shown(frame, !started)
                                 : std::string(trace.text(trace.labels()[node.label].name)));
    if (path.purpose == Purpose::kUnknown && !frame.builtin && !is_of_torch(frame))
      path.purpose = purpose_of(frame.function);
  }
  std::vector<std::string> names = path.functions;
  if (names.size() > kNamed) {  // the first ones are the program's own, the last says what it is
    names.erase(names.begin() + kNamed - 1, names.end() - 1);
  }
  for (const std::string& name : names) path.text += (path.text.empty() ? "" : " → ") + name;
  return path;
}

}  // namespace sonde::capture::loop
