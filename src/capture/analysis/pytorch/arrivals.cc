#include "capture/analysis/pytorch/arrivals.h"

#include <algorithm>

#include "capture/analysis/loop/loop.h"
#include "capture/analysis/pytorch/collectives.h"

namespace sonde::capture::pytorch {

Arrivals arrivals_of(const std::vector<const Capture*>& ranks) {
  Arrivals out;
  if (ranks.size() < 2) return out;
  std::vector<std::vector<Collective>> calls;
  size_t fewest = SIZE_MAX, steps = SIZE_MAX;
  for (const Capture* rank : ranks) {
    calls.push_back(collectives_of(*rank));
    // Work on the host's own thread only hands the collective over.
    std::erase_if(calls.back(),
                  [](const Collective& call) { return call.name.starts_with("c10d::"); });
    fewest = std::min(fewest, calls.back().size());
    steps = std::min(steps, rank->steps.size());
  }
  if (fewest == 0 || steps == 0) return out;
  match(calls);
  out.last.assign(ranks.size(), 0);
  out.wait_ms.assign(ranks.size(), 0);
  out.by_step.assign(ranks.size(), std::vector<double>(steps, 0));
  for (size_t r = 0; r < ranks.size(); ++r) {
    std::vector<Ranges> waits(steps);
    // An operator that hands a collective over may stand until it is done: that is no work.
    Ranges standing;
    for (const Node& node : ranks[r]->nodes) {
      if (ranks[r]->name_of(node).starts_with("c10d::")) standing.push_back({node.begin, node.end});
    }
    Ranges busy = difference(ranks[r]->operators, merged(std::move(standing)));
    for (const DeviceEvent& event : ranks[r]->device) {
      if (event.kind == Kind::kKernel && !event.is_communication)
        busy.push_back({event.begin, event.end});
    }
    busy = merged(std::move(busy));
    for (const Collective& call : calls[r]) {
      if (call.transfer.size() != call.ranges.size()) continue;
      // By the step it began in: the device may run behind the host.
      size_t step = 0;
      while (step + 1 < steps && ranks[r]->steps[step + 1].host.begin <= call.call.begin) ++step;
      for (size_t j = 0; j < call.ranges.size(); ++j)
        waits[step].push_back({call.ranges[j].begin, call.transfer[j].begin});
    }
    for (size_t s = 0; s < steps; ++s) {
      std::erase_if(waits[s], [](const Range& w) { return w.end <= w.begin; });
      // A collective that waits while the rank itself computes holds up nobody.
      const Ranges idle = difference(merged(std::move(waits[s])), busy);
      out.by_step[r][s] = static_cast<double>(total(idle)) / 1e9;
    }
    out.wait_ms[r] = loop::median(out.by_step[r]);
  }
  for (size_t k = 0; k < fewest; ++k) {
    size_t last = 0;
    const auto length = [&](size_t r) { return calls[r][k].call.length(); };
    for (size_t r = 1; r < ranks.size(); ++r) {
      if (length(r) < length(last)) last = r;
    }
    ++out.last[last];
    ++out.collectives;
  }
  out.late = static_cast<size_t>(std::min_element(out.wait_ms.begin(), out.wait_ms.end()) -
                                 out.wait_ms.begin());
  out.late_ms = 1e300;
  for (size_t r = 0; r < ranks.size(); ++r) {
    if (r != out.late) out.late_ms = std::min(out.late_ms, out.wait_ms[r] - out.wait_ms[out.late]);
  }
  return out;
}

}  // namespace sonde::capture::pytorch
