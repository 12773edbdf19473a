// The points of a histogram series, read and turned into text in parallel.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "api/routes.h"
#include "event/blob.h"

namespace sonde::api::tensorboard {

struct HistogramPoint {
  Step step = 0;
  double wall_time = 0;
  std::vector<event::Bucket> buckets;
};

// One piece of text a point, evenly thinned; a point that is no histogram is left out.
std::vector<std::string> histogram_pieces(
    const Context& context, const store::Series& series, uint64_t limit,
    const std::function<void(std::string&, const HistogramPoint&)>& append);

}  // namespace sonde::api::tensorboard
