#include "capture/trace/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sonde::trace {

int64_t ArgValue::as_int() const {
  if (type != ArgType::kDouble) return static_cast<int64_t>(bits);
  const double value = std::bit_cast<double>(bits);
  if (!(std::abs(value) < 9.2e18)) return 0;
  return static_cast<int64_t>(value);
}

double ArgValue::as_double() const {
  switch (type) {
    case ArgType::kDouble:
      return std::bit_cast<double>(bits);
    case ArgType::kUint:
      return static_cast<double>(bits);
    default:
      return static_cast<double>(static_cast<int64_t>(bits));
  }
}

std::string_view name_of(TrackKind kind) {
  switch (kind) {
    case TrackKind::kProcess:
      return "process";
    case TrackKind::kThread:
      return "thread";
    case TrackKind::kStream:
      return "stream";
    case TrackKind::kCounter:
      return "counter";
    case TrackKind::kAsync:
      return "async";
    case TrackKind::kAggregate:
      return "aggregate";
  }
  return "";
}

TrackId Trace::track_of(SliceId s) const {
  // Tracks without slices share their first slice with the next track; the last one that starts at
  // or before s is the owner.
  const auto after =
      std::upper_bound(tracks_.begin(), tracks_.end(), s,
                       [](SliceId id, const Track& t) { return id < t.first_slice; });
  for (auto t = after; t != tracks_.begin();) {
    --t;
    if (t->slices != 0) return static_cast<TrackId>(t - tracks_.begin());
  }
  return kNone;
}

std::optional<ArgValue> Trace::find(ArgRange range, KeyId key) const {
  if (key == kNone) return std::nullopt;
  for (uint32_t i = range.count; i-- > 0;) {
    if (arg_key_[range.first + i] >> 3 == key) return arg(range.first + i).value;
  }
  return std::nullopt;
}

std::string Trace::printed(const ArgValue& value) const {
  switch (value.type) {
    case ArgType::kInt:
      return fmt::format("{}", static_cast<int64_t>(value.bits));
    case ArgType::kUint:
      return fmt::format("{}", value.bits);
    case ArgType::kDouble:
      return fmt::format("{}", std::bit_cast<double>(value.bits));
    case ArgType::kText:
      return std::string(text(static_cast<StringId>(value.bits)));
    case ArgType::kBytes:
      return fmt::format("<{} bytes>", bytes_of(value).size());
    case ArgType::kBool:
      return value.bits != 0 ? "true" : "false";
  }
  return {};
}

std::string_view Trace::metadata(std::string_view key) const {
  for (const auto& [name, value] : metadata_) {
    if (name == key) return value;
  }
  return {};
}

size_t Trace::memory_bytes() const {
  size_t bytes = begin_.size() * 16 + label_.size() * 4 + depth_.size() * 2 + first_arg_.size() * 4;
  bytes += arg_key_.size() * 12 + point_time_.size() * 16 + flows_.size() * sizeof(Flow);
  bytes += tracks_.size() * (sizeof(Track) + 8) + labels_.size() * sizeof(Label);
  for (const std::string& blob : blobs_) bytes += blob.size();
  return bytes + strings_.memory_bytes();
}

}  // namespace sonde::trace
