// The points of a histogram series as JSON; a long series is read and printed in parallel.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "api/routes.h"
#include "log/event/blob.h"

namespace sonde::api::tensorboard {

struct HistogramPoint {
  Step step = 0;
  double wall_time = 0;
  std::vector<event::Bucket> buckets;
};

struct HistogramArray {
  std::string json;         // [point,point,...]
  bool is_complete = true;  // false: the bytes of a point could not be read this time
};

// The points of the default view, evenly thinned; a point that is no histogram is left out.
HistogramArray histogram_array(
    const Context& context, const store::Series& series, uint64_t limit,
    const std::function<void(std::string&, const HistogramPoint&)>& append);

}  // namespace sonde::api::tensorboard
