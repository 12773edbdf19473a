// Arrays to encoded pictures and sound, by the rules of TensorFlow's and torch's writers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "sonde/summary.h"

namespace sonde::writer {

// How a number becomes 8 bit. tf.summary.image: floats trunc(x * 255.5), uint16 / 256, wider
// integers / 2^(bits - 8); torch: uint8 as it is, every other type times 255; both saturate, NaN is
// 0.
enum class Scale : uint8_t { kTensorFlow, kTorch };
std::vector<uint8_t> to_bytes(const Array& pixels, Scale scale);

// 16-bit PCM of [frames, channels]. TensorFlow rounds x * 32768, torch truncates x * 32767.
std::string wav(const Array& samples, int64_t frames, int64_t channels, int sample_rate,
                Scale scale);

// Views of data with a batch axis in front: image k of [n, h, w, c], clip k of [n, t, c].
Array part(const Array& batch, int64_t index);

}  // namespace sonde::writer
