#include "numerics/alerts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>

#include "numerics/first_fault.h"

namespace sonde::numerics {
namespace {

constexpr float kSpike = 20;         // times the median of what came before
constexpr size_t kSpikeHistory = 8;  // values that make the median
constexpr float kGrowth = 1e4f;      // times the first value
constexpr float kLargeRms = 100;     // below it nothing has exploded
constexpr uint32_t kDeadTimes = 3;   // in a row
constexpr float kVanishing = 1e-6f;  // of the largest gradient of the step
constexpr float kNearTheEnd = 0.5f;  // of what the type can hold
constexpr size_t kKinds = static_cast<size_t>(AlertKind::kSaturation) + 1;

bool contains(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

// What one traced tensor was so far.
struct Series {
  std::array<bool, kKinds> said{};
  std::array<float, kSpikeHistory> last{};
  size_t seen = 0;
  float first = 0;
  uint32_t dead = 0;
  uint64_t dead_since = 0;
  bool is_constant = false, is_gradient = false, is_unit = false, is_replay = false;
};

class Watcher {
 public:
  explicit Watcher(const Data& data) : data_(data), all_(data.traced.size()) {
    for (size_t i = 0; i < all_.size(); ++i) {
      const Op* op = data.op(data.traced[i]);
      const std::string_view type = op ? data.texts.text(op->type) : std::string_view();
      Series& series = all_[i];
      series.is_constant = is_constant_type(type);
      series.is_gradient = type.ends_with(" backward") || type == "Gradient";
      series.is_unit = contains(type, "elu") || contains(type, "ELU") || contains(type, "ReLU");
      if (op) series.is_replay = data.graphs[op->graph].name.starts_with("replay");
    }
  }

  std::vector<Alert> watch() {
    for (uint64_t i = 0; i < data_.traces.size() && found_.size() < kMostAlertsShown; ++i)
      look(i, data_.traces[i]);
    end_step();
    std::stable_sort(found_.begin(), found_.end(),
                     [](const Alert& a, const Alert& b) { return a.row < b.row; });
    return std::move(found_);
  }

 private:
  void say(Series& series, AlertKind kind, uint64_t row, std::string text) {
    bool& said = series.said[static_cast<size_t>(kind)];
    if (said) return;
    said = true;
    found_.push_back({kind, row, std::move(text)});
  }

  void look(uint64_t i, const TraceRow& row) {
    Series& series = all_[row.traced];
    if (series.is_constant) return;
    if (row.bad != kNone)
      say(series, AlertKind::kBad, i,
          (row.bad & kNan) != 0    ? "NaN"
          : (row.bad & kSome) != 0 ? "NaN or infinity"
                                   : "infinity");
    if (series.is_replay) return;  // one step, op by op: nothing to compare with
    if (series.is_unit) look_at_zeros(i, row, series);
    if (row.saturated >= kNearTheEnd && row.bad == kNone)
      say(series, AlertKind::kSaturation, i,
          fmt::format("{:.0f} % of the largest value of its type",
                      100 * static_cast<double>(row.saturated)));
    if (std::isnan(row.rms)) return;
    look_at_size(i, row, series);
    if (series.is_gradient) {
      if (row.step != step_) end_step();
      step_ = row.step;
      gradients_.push_back(i);
    }
  }

  void look_at_zeros(uint64_t i, const TraceRow& row, Series& series) {
    if (row.zeros != 1) {
      if (!std::isnan(row.zeros)) series.dead = 0;
      return;
    }
    if (series.dead++ == 0) series.dead_since = i;
    if (series.dead >= kDeadTimes)
      say(series, AlertKind::kDead, series.dead_since,
          fmt::format("every value is zero, {} times in a row", kDeadTimes));
  }

  void look_at_size(uint64_t i, const TraceRow& row, Series& series) {
    if (series.seen >= kSpikeHistory) {
      std::array<float, kSpikeHistory> sorted = series.last;
      std::sort(sorted.begin(), sorted.end());
      const float median = sorted[kSpikeHistory / 2];
      if (median > 0 && row.rms > kSpike * median)
        say(series, AlertKind::kSpike, i,
            fmt::format("rms {:.3g}, {:.3g} times the median before", static_cast<double>(row.rms),
                        static_cast<double>(row.rms / median)));
    }
    series.last[series.seen++ % kSpikeHistory] = row.rms;
    if (series.first == 0) series.first = row.rms;
    if (series.first > 0 && row.rms > kGrowth * series.first && row.rms > kLargeRms)
      say(series, AlertKind::kExplosion, i,
          fmt::format("rms {:.3g}, {:.2g} times the first", static_cast<double>(row.rms),
                      static_cast<double>(row.rms / series.first)));
  }

  // Gradients of one step are seen together: small is small beside the others.
  void end_step() {
    float largest = 0;
    for (const uint64_t i : gradients_) largest = std::max(largest, data_.traces[i].rms);
    for (const uint64_t i : gradients_) {
      const TraceRow& row = data_.traces[i];
      if (row.rms > 0 && row.rms < kVanishing * largest)
        say(all_[row.traced], AlertKind::kVanishing, i,
            fmt::format("rms {:.2g}, {:.1g} of the step's largest gradient",
                        static_cast<double>(row.rms), static_cast<double>(row.rms / largest)));
    }
    gradients_.clear();
  }

  const Data& data_;
  std::vector<Series> all_;
  std::vector<Alert> found_;
  uint32_t step_ = 0;
  std::vector<uint64_t> gradients_;  // of step_
};

}  // namespace

std::string_view name_of(AlertKind kind) {
  constexpr std::array<std::string_view, kKinds> kNames = {"bad",  "spike",     "explosion",
                                                           "dead", "vanishing", "saturation"};
  return kNames[static_cast<size_t>(kind)];
}

std::vector<Alert> alerts(const Data& data) { return Watcher(data).watch(); }

}  // namespace sonde::numerics
