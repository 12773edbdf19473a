#include "capture/analysis/pytorch/ranges.h"

#include <algorithm>

namespace sonde::capture::pytorch {

Ranges merged(Ranges ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](const Range& a, const Range& b) { return a.begin < b.begin; });
  Ranges out;
  for (const Range& range : ranges) append(out, range);
  return out;
}

Ranges intersection(const Ranges& a, const Ranges& b) {
  Ranges out;
  for (size_t i = 0, k = 0; i < a.size() && k < b.size();) {
    const Range both{std::max(a[i].begin, b[k].begin), std::min(a[i].end, b[k].end)};
    if (both.begin < both.end) out.push_back(both);
    a[i].end < b[k].end ? ++i : ++k;
  }
  return out;
}

Ranges difference(const Ranges& a, const Ranges& b) {
  Ranges out;
  size_t k = 0;
  for (Range left : a) {
    while (k < b.size() && b[k].end <= left.begin) ++k;
    for (size_t i = k; i < b.size() && b[i].begin < left.end; ++i) {
      if (b[i].begin > left.begin) out.push_back({left.begin, b[i].begin});
      left.begin = std::max(left.begin, b[i].end);
    }
    if (left.begin < left.end) out.push_back(left);
  }
  return out;
}

int64_t total(const Ranges& ranges) {
  int64_t sum = 0;
  for (const Range& range : ranges) sum += range.length();
  return sum;
}

int64_t total_inside(const Ranges& ranges, Range window) {
  auto at = std::partition_point(ranges.begin(), ranges.end(),
                                 [&](const Range& r) { return r.end <= window.begin; });
  int64_t sum = 0;
  for (; at != ranges.end() && at->begin < window.end; ++at)
    sum += std::min(at->end, window.end) - std::max(at->begin, window.begin);
  return sum;
}

}  // namespace sonde::capture::pytorch
