#include "api/tensorboard/histogram_json.h"

#include <algorithm>

#include "api/tensorboard/scalar_json.h"
#include "api/tensorboard/shared.h"

namespace sonde::api::tensorboard {

std::vector<std::string> histogram_pieces(
    const Context& context, const store::Series& series, uint64_t limit,
    const std::function<void(std::string&, const HistogramPoint&)>& append) {
  const std::vector<store::BlobPoint> points = query::blob_points(series, limit);
  std::vector<std::string> pieces(points.size());
  constexpr size_t kTogether = 64;  // points that share an open file and a turn of a thread
  context.pool.for_each((points.size() + kTogether - 1) / kTogether, [&](size_t part) {
    const auto reader = context.store.blobs().sequence();
    const size_t end = std::min(points.size(), (part + 1) * kTogether);
    for (size_t i = part * kTogether; i < end; ++i) {
      const auto payload = reader->event(points[i].where);
      if (!payload) continue;
      const auto value = event::find_value(as_bytes(*payload), points[i].where.value);
      if (!value) continue;
      auto buckets = event::histogram(*value);
      if (!buckets) continue;
      append(pieces[i], {points[i].step, points[i].wall_time, std::move(*buckets)});
    }
  });
  std::erase_if(pieces, [](const std::string& piece) { return piece.empty(); });
  return pieces;
}

}  // namespace sonde::api::tensorboard
