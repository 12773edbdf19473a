#include "api/tensorboard/histogram_json.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "api/tensorboard/scalar_json.h"
#include "api/tensorboard/shared.h"

namespace sonde::api::tensorboard {
namespace {

// Points that one thread reads and prints: below this, waking another one takes longer than it
// helps.
constexpr size_t kTogether = 256;

using Append = std::function<void(std::string&, const HistogramPoint&)>;

// Old histograms are answered in float32, as TensorBoard does; edges beyond its range stay.
void round_to_float(std::vector<event::Bucket>& buckets) {
  const auto round = [](double& number) {
    if (std::abs(number) <= std::numeric_limits<float>::max()) number = static_cast<float>(number);
  };
  for (event::Bucket& bucket : buckets) {
    round(bucket.left);
    round(bucket.right);
    round(bucket.count);
  }
}

// False when the bytes of a point could not be read.
bool append_points(const store::BlobReader& blobs, std::span<const store::BlobPoint> points,
                   const Append& append, std::string& out) {
  bool is_complete = true;
  const auto reader = blobs.sequence();
  for (const store::BlobPoint& point : points) {
    const auto payload = reader->event(point.where);
    if (!payload) is_complete = false;
    if (!payload) continue;
    const auto value = event::find_value(as_bytes(*payload), point.where.value);
    if (!value) continue;
    auto buckets = event::histogram(*value);
    if (!buckets) continue;
    if (value->kind == event::ValueKind::kHisto) round_to_float(*buckets);
    if (!out.empty()) out.push_back(',');
    append(out, {point.step, point.wall_time, std::move(*buckets)});
  }
  return is_complete;
}

}  // namespace

HistogramArray histogram_array(const Context& context, const store::Series& series, uint64_t limit,
                               const Append& append) {
  const std::vector<store::BlobPoint> points = query::blob_points(series, limit);
  std::vector<std::string> texts((points.size() + kTogether - 1) / kTogether);
  std::atomic<bool> is_complete = true;
  const auto write = [&](size_t i) {
    const auto some = std::span(points).subspan(i * kTogether);
    if (!append_points(context.store.blobs(), some.first(std::min(some.size(), kTogether)), append,
                       texts[i])) {
      is_complete = false;
    }
  };
  if (texts.size() == 1) {
    write(0);
  } else {
    context.pool.for_each(texts.size(), write);
  }
  std::erase_if(texts, [](const std::string& text) { return text.empty(); });
  return {"[" + joined(texts) + "]", is_complete};
}

}  // namespace sonde::api::tensorboard
