#include "capture/analysis/pytorch/common_clock.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "capture/analysis/analysis.h"

namespace sonde::capture::pytorch {
namespace {

int64_t middle_of(std::vector<int64_t> values) {
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

int64_t end_of(const Collective& call) {
  int64_t end = call.call.end;
  for (const Range& range : call.ranges) end = std::max(end, range.end);
  return end;
}

}  // namespace

std::vector<Meeting> meetings_of(const std::vector<std::vector<Collective>>& by_rank) {
  using Kind = std::tuple<std::string_view, std::string_view, int64_t>;
  std::map<std::pair<Kind, size_t>, Meeting> all;  // the n-th of its kind
  for (size_t rank = 0; rank < by_rank.size(); ++rank) {
    std::map<Kind, size_t> count;
    for (const Collective& call : by_rank[rank]) {
      const Kind kind{call.name, call.group, call.sequence};
      Meeting& meeting = all[{kind, count[kind]++}];
      meeting.resize(by_rank.size(), nullptr);
      meeting[rank] = &call;
    }
  }
  std::vector<Meeting> out;
  for (auto& [key, meeting] : all) {
    if (std::all_of(meeting.begin(), meeting.end(), [](const auto* call) { return call; }))
      out.push_back(std::move(meeting));
  }
  std::stable_sort(out.begin(), out.end(), [](const Meeting& a, const Meeting& b) {
    return a[0]->call.begin < b[0]->call.begin;
  });
  return out;
}

CommonClock common_clock(const std::vector<const HostAnalysis*>& hosts) {
  CommonClock clock;
  clock.offset_ps.assign(hosts.size(), 0);
  if (hosts.size() < 2) return clock;
  const auto is_pytorch = [](const HostAnalysis* host) { return host->is_pytorch(); };
  if (std::all_of(hosts.begin(), hosts.end(), is_pytorch)) {
    std::vector<std::vector<Collective>> calls;
    for (const HostAnalysis* host : hosts) calls.push_back(collectives_of(host->pytorch()));
    const std::vector<Meeting> meetings = meetings_of(calls);
    if (!meetings.empty()) {
      for (size_t rank = 1; rank < hosts.size(); ++rank) {
        std::vector<int64_t> late;
        for (const Meeting& meeting : meetings)
          late.push_back(end_of(*meeting[0]) - end_of(*meeting[rank]));
        clock.offset_ps[rank] = middle_of(std::move(late));
      }
      clock.collectives = meetings.size();
      clock.rule = fmt::format("the ends of {} shared collectives", meetings.size());
      return clock;
    }
  }
  const auto start = hosts[0]->trace().start_ns();
  constexpr int64_t kMostNs = int64_t{1} << 50;  // 13 days
  bool has_clocks = start.has_value();
  for (size_t rank = 0; rank < hosts.size() && has_clocks; ++rank) {
    const auto own = hosts[rank]->trace().start_ns();
    int64_t ns = 0;
    has_clocks = own && !__builtin_sub_overflow(*own, *start, &ns) && ns > -kMostNs && ns < kMostNs;
    if (has_clocks) clock.offset_ps[rank] = ns * 1000;
  }
  clock.rule = "the machines' clocks";
  if (has_clocks) return clock;
  for (size_t rank = 0; rank < hosts.size(); ++rank)
    clock.offset_ps[rank] =
        hosts[0]->trace().first_begin().value - hosts[rank]->trace().first_begin().value;
  clock.rule = "their starts, for want of shared collectives and clocks";
  return clock;
}

}  // namespace sonde::capture::pytorch
