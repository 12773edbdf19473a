// A scalar series made of given points, in blocks of a given size, for tests of questions.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "log/model/snapshot.h"

namespace sonde::test {

class FakeSeries final : public store::Series {
 public:
  std::vector<Step> steps;
  std::vector<double> walls;
  std::vector<double> values;
  size_t block = 1000;

  explicit FakeSeries(std::string tag = "loss") {
    tag_ = std::move(tag);
    auto metadata = std::make_shared<store::Metadata>();
    metadata->plugin = "scalars";
    metadata->data_class = store::DataClass::kScalar;
    metadata_ = std::move(metadata);
    is_scalar_ = true;
    value_type_ = store::ValueType::kFloat64;
  }
  void add(Step step, double wall, double value) {
    steps.push_back(step);
    walls.push_back(wall);
    values.push_back(value);
    size_ = steps.size();
    all_ = {0, size_};
    ++revision_;
  }
  // What View::kNewest shows; everything when it was never called.
  void show(std::vector<store::Range> ranges) {
    newest_ = std::move(ranges);
    has_hidden_ = true;
    ++layout_;
  }

  void blocks(store::Range range,
              const std::function<void(const store::ScalarBlock&)>& fn) const override {
    for (uint64_t at = range.begin; at < range.end;) {
      const uint64_t end = std::min<uint64_t>(range.end, (at / block + 1) * block);
      fn({{steps.data() + at, end - at},
          {walls.data() + at, end - at},
          values.data() + at,
          store::ValueType::kFloat64});
      at = end;
    }
  }
  std::span<const store::BlobPoint> points(store::Range) const override { return {}; }
  uint64_t unreadable() const override { return 0; }
};

}  // namespace sonde::test
