#include "capture/analysis/loop/recurring.h"

#include <algorithm>
#include <map>

#include "capture/analysis/loop/loop.h"

namespace sonde::capture::loop {
namespace {

constexpr size_t kRounds = 3;         // fewer are no rhythm
constexpr size_t kMostRounds = 2000;  // of more, one round is no step
constexpr double kCovered = 0.6;      // of the whole, that the rounds have to fill
constexpr double kEven = 0.75;        // of the distances, that are near the median one

struct Name {
  std::vector<pytorch::Range> ranges;
};

}  // namespace

bool is_even(const std::vector<pytorch::Range>& ranges, int64_t whole) {
  std::vector<double> distances;
  for (size_t i = 1; i < ranges.size(); ++i)
    distances.push_back(static_cast<double>(ranges[i].begin - ranges[i - 1].begin));
  const double usual = median(distances);
  const auto near = std::count_if(distances.begin(), distances.end(),
                                  [&](double d) { return d > 0.4 * usual && d < 2.5 * usual; });
  return usual * static_cast<double>(ranges.size()) >= kCovered * static_cast<double>(whole) &&
         static_cast<double>(near) >= kEven * static_cast<double>(distances.size());
}

std::vector<pytorch::Range> recurring(const std::vector<Occurrence>& occurrences, Rounds which) {
  if (occurrences.empty()) return {};
  std::map<trace::LabelId, Name> names;
  int64_t end = occurrences.front().range.end;
  for (const Occurrence& o : occurrences) {
    names[o.label].ranges.push_back(o.range);
    end = std::max(end, o.range.end);
  }
  const int64_t whole = end - occurrences.front().range.begin;
  std::map<size_t, std::vector<const Name*>> by_count;
  for (const auto& [label, name] : names) {
    const size_t count = name.ranges.size();
    if (count < kRounds || count > kMostRounds || !is_even(name.ranges, whole)) continue;
    by_count[count].push_back(&name);
  }
  const std::vector<const Name*>* most = nullptr;
  for (const auto& [count, agreeing] : by_count) {
    if (!most || (which == Rounds::kAgreed && agreeing.size() > most->size())) most = &agreeing;
  }
  if (!most) return {};
  // The one that comes first; of several that begin together, the outermost.
  const Name* first =
      *std::min_element(most->begin(), most->end(), [](const Name* a, const Name* b) {
        const pytorch::Range &x = a->ranges.front(), &y = b->ranges.front();
        return x.begin != y.begin ? x.begin < y.begin : x.end > y.end;
      });
  return first->ranges;
}

}  // namespace sonde::capture::loop
