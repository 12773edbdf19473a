#include "api/tensorboard/histogram_json.h"

#include "api/tensorboard/scalar_json.h"
#include "api/tensorboard/shared.h"

namespace sonde::api::tensorboard {

std::vector<std::string> histogram_pieces(
    const Context& context, const store::Series& series, uint64_t limit,
    const std::function<void(std::string&, const HistogramPoint&)>& append) {
  const std::vector<store::BlobPoint> points = query::blob_points(series, limit);
  std::vector<std::string> pieces(points.size());
  for_each_part(context, points.size(), [&](size_t i) {
    std::string payload;
    const auto value = read_value(context, points[i].where, payload);
    if (!value) return;
    auto buckets = event::histogram(*value);
    if (!buckets) return;
    append(pieces[i], {points[i].step, points[i].wall_time, std::move(*buckets)});
  });
  std::erase_if(pieces, [](const std::string& piece) { return piece.empty(); });
  return pieces;
}

}  // namespace sonde::api::tensorboard
