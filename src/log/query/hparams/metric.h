// One number for a scalar series: its last value, its smallest, its value where another tag is
// best.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "log/query/hparams/cell.h"
#include "log/query/series/series_reader.h"

namespace sonde::query {

struct MetricSpec {
  enum class What : uint8_t { kLast, kFirst, kMin, kMax, kMean, kCount, kStep, kAtMin, kAtMax };
  std::string tag;
  What what = What::kLast;
  std::string other;  // of kAtMin, kAtMax

  // "val/acc:max", "loss:at_min:val/loss"; a text without a known ending means the last value.
  static MetricSpec parse(std::string_view text);
};

// kMissing when the run lacks a tag that is needed or has no finite value to choose from.
Cell metric(const store::RunSnapshot& run, const MetricSpec& spec, uint64_t source);

}  // namespace sonde::query
