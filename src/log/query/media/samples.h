// Which points of a series an answer holds. The store keeps every point; an answer to one of
// TensorBoard's routes holds at most as many as --samples_per_plugin allows: scalars keep the
// extremes of each stretch, everything else is taken evenly. First and last are always there.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "log/model/snapshot.h"

namespace sonde::query {

inline constexpr uint64_t kAllSamples = UINT64_MAX;

// "scalars=500,images=0": the number of samples of a plug-in; 0 means all of them.
class SampleLimits {
 public:
  // kInvalid, naming the part, when the text is not of that form.
  static Result<SampleLimits> parse(std::string_view text);

  uint64_t of(std::string_view plugin, uint64_t otherwise) const;

 private:
  std::map<std::string, uint64_t, std::less<>> limits_;
};

struct ScalarPoint {
  Step step = 0;
  double wall_time = 0;
  double value = 0;                                    // widened
  store::ValueType type = store::ValueType::kFloat32;  // what it was written as
  uint64_t integer = 0;                                // exact, of the integer types
};

// Calls fn with the points of the default view, at most `limit` of them, in arrival order. When
// there are more, each stretch gives its smallest and largest value (and a NaN if it has one).
void for_each_scalar(const store::Series& series, uint64_t limit,
                     const std::function<void(const ScalarPoint&)>& fn);

// The last point of the default view; false when it is empty.
bool last_scalar(const store::Series& series, ScalarPoint& point);

// `limit` of `count` positions, evenly, first and last among them; all when there are not more.
std::vector<uint64_t> even_positions(uint64_t count, uint64_t limit);

// The points of the default view of a series of references, thinned evenly.
std::vector<store::BlobPoint> blob_points(const store::Series& series,
                                          uint64_t limit = kAllSamples);

// The same sorted by step, the first of equal steps kept: how blob sequences are listed.
std::vector<store::BlobPoint> blob_points_by_step(const store::Series& series,
                                                  uint64_t limit = kAllSamples);

}  // namespace sonde::query
