#include "log/query/media/wav.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sonde::query {
namespace {

constexpr uint16_t kPcm = 1, kFloat = 3, kExtensible = 0xfffe;

// The sample at `at` as a number in -1…1; what is not a number counts as silence.
double sample(Bytes file, size_t at, const WavInfo& info) {
  if (info.is_float) {
    const double value = info.bits == 32 ? load<float>(file, at) : load<double>(file, at);
    return std::isfinite(value) ? value : 0;
  }
  switch (info.bits) {
    case 8:  // the only unsigned one
      return (static_cast<double>(load<uint8_t>(file, at)) - 128) / 128;
    case 16:
      return load<int16_t>(file, at) / 32768.0;
    case 24: {
      const uint32_t low = load<uint16_t>(file, at);
      // NOLINTNEXTLINE(bugprone-signed-char-misuse): the sign is meant
      const auto high = static_cast<int32_t>(load<int8_t>(file, at + 2));
      return (high * 65536 + static_cast<int32_t>(low)) / 8388608.0;
    }
    default:
      return load<int32_t>(file, at) / 2147483648.0;
  }
}

}  // namespace

Result<WavInfo> wav_info(Bytes head, uint64_t total) {
  const std::string_view text = as_text(head);
  if (head.size() < 12 || !text.starts_with("RIFF") || text.substr(8, 4) != "WAVE")
    return fail(Code::kUnsupported, "the clip is not a WAV file");
  WavInfo info;
  uint16_t format = 0;
  for (uint64_t at = 12; at + 8 <= head.size();) {
    const std::string_view name = text.substr(at, 4);
    const uint32_t size = load<uint32_t>(head, at + 4);
    if (name == "fmt " && size >= 16 && at + 24 <= head.size()) {
      format = load<uint16_t>(head, at + 8);
      info.channels = load<uint16_t>(head, at + 10);
      info.rate = load<uint32_t>(head, at + 12);
      info.bits = load<uint16_t>(head, at + 22);
      if (format == kExtensible && size >= 26 && at + 34 <= head.size())
        format = load<uint16_t>(head, at + 32);
    }
    if (name == "data") {
      const uint64_t frame = uint64_t{info.channels} * (info.bits / 8);
      info.is_float = format == kFloat;
      const bool known = (format == kPcm && (info.bits == 8 || info.bits == 16 || info.bits == 24 ||
                                             info.bits == 32)) ||
                         (info.is_float && (info.bits == 32 || info.bits == 64));
      if (!known || frame == 0)
        return fail(Code::kUnsupported,
                    fmt::format("WAV format {} with {} bits is not read here", format, info.bits));
      info.data_begin = at + 8;
      const uint64_t there = total > info.data_begin ? total - info.data_begin : 0;
      info.frames = std::min<uint64_t>(size, there) / frame;
      return info;
    }
    at += 8 + uint64_t{size} + (size & 1);
  }
  return fail(Code::kCorrupt, "the WAV file has no data");
}

Result<Peaks> wav_peaks(Bytes file, size_t px) {
  SONDE_TRY(info, wav_info(file, file.size()));
  Peaks peaks;
  peaks.info = info;
  const size_t channels = info.channels, bytes = info.bits / 8;
  const uint64_t columns = std::min<uint64_t>(px, info.frames);
  peaks.min.assign(columns * channels, 0);
  peaks.max.assign(columns * channels, 0);
  for (uint64_t p = 0; p < columns; ++p) {
    const uint64_t begin = p * info.frames / columns, end = (p + 1) * info.frames / columns;
    for (size_t c = 0; c < channels; ++c) {
      double low = INFINITY, high = -INFINITY;
      for (uint64_t f = begin; f < end; ++f) {
        const double value = sample(file, info.data_begin + (f * channels + c) * bytes, info);
        low = std::min(low, value);
        high = std::max(high, value);
      }
      peaks.min[c * columns + p] = static_cast<float>(low);
      peaks.max[c * columns + p] = static_cast<float>(high);
    }
  }
  return peaks;
}

}  // namespace sonde::query
