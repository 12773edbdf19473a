// WAV clips: their header, and the smallest and largest sample per pixel for a waveform.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace sonde::query {

struct WavInfo {
  uint32_t rate = 0, channels = 0, bits = 0;
  bool is_float = false;
  uint64_t frames = 0;    // complete ones that are really there
  size_t data_begin = 0;  // of the samples, in the file

  double seconds() const { return rate > 0 ? static_cast<double>(frames) / rate : 0; }
};

// From the first bytes of a file of `total` bytes; the claimed sizes are cut to what is there.
Result<WavInfo> wav_info(Bytes head, uint64_t total);

struct Peaks {
  std::vector<float> min, max;  // [channels][px], in -1…1
  WavInfo info;
};

// kUnsupported for other encodings than PCM 8/16/24/32 and float 32/64.
Result<Peaks> wav_peaks(Bytes file, size_t px);

}  // namespace sonde::query
