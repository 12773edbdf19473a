#include "log/write/media.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "image/gif_encode.h"
#include "image/png_encode.h"
#include "log/write/values.h"

namespace sonde::writer {
namespace {

uint8_t saturated(double x) {
  if (!(x > 0)) return 0;  // NaN too
  return x >= 255 ? 255 : static_cast<uint8_t>(x);
}

uint8_t by_tensorflow(double x, DataType type) {
  switch (type) {
    case DataType::kUint8:
    case DataType::kBool:
      return saturated(x);
    case DataType::kInt8:
      return saturated(x * 2);
    case DataType::kUint16:
      return saturated(x / 256);
    case DataType::kInt16:
      return saturated(x / 128);
    case DataType::kInt32:
      return saturated(x / 8388608);
    case DataType::kUint32:
      return saturated(x / 16777216);
    case DataType::kInt64:
    case DataType::kUint64:
      return saturated(x / 36028797018963968.0);
    default:
      return saturated(x * 255.5);
  }
}

template <class T>
void le(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

Summary images_value(std::string_view tag, std::vector<std::string> cells, const About& about) {
  const std::vector<int64_t> shape{static_cast<int64_t>(cells.size())};
  return one_value(tag, [&](wire::Encoder& value) {
    put_strings(value, cells, shape);
    put_metadata(value, {"images", {}}, about);
  });
}

// [h, w] and [h, w, c] become a batch of one.
Array batched(Array data, size_t rank, bool add_channel) {
  if (add_channel && data.shape.size() == rank - 2) data.shape.push_back(1);
  if (data.shape.size() == rank - 1) data.shape.insert(data.shape.begin(), 1);
  return data;
}

}  // namespace

std::vector<uint8_t> to_bytes(const Array& pixels, Scale scale) {
  const size_t n = pixels.count();
  std::vector<uint8_t> out(n);
  if (pixels.type == DataType::kUint8) {
    if (n != 0) std::memcpy(out.data(), pixels.data, n);
  } else if (pixels.type == DataType::kFloat32) {
    const auto* p = static_cast<const float*>(pixels.data);
    const float factor = scale == Scale::kTensorFlow ? 255.5f : 255.0f;
    for (size_t i = 0; i < n; ++i) out[i] = saturated(p[i] * factor);
  } else {
    for (size_t i = 0; i < n; ++i) {
      const double x = element(pixels, i);
      out[i] = scale == Scale::kTorch ? saturated(x * 255) : by_tensorflow(x, pixels.type);
    }
  }
  return out;
}

std::string wav(const Array& samples, int64_t frames, int64_t channels, int sample_rate,
                Scale scale) {
  std::string out;
  const auto bytes = static_cast<uint32_t>(frames * channels * 2);
  out.reserve(bytes + 44);
  out += "RIFF";
  le(out, uint32_t{36} + bytes);
  out += "WAVEfmt ";
  le(out, uint32_t{16});
  le(out, uint16_t{1});
  le(out, static_cast<uint16_t>(channels));
  le(out, static_cast<uint32_t>(sample_rate));
  le(out, static_cast<uint32_t>(sample_rate * channels * 2));
  le(out, static_cast<uint16_t>(channels * 2));
  le(out, uint16_t{16});
  out += "data";
  le(out, bytes);
  for (int64_t i = 0; i < frames * channels; ++i) {
    double x = element(samples, static_cast<size_t>(i));
    if (std::isnan(x)) x = 0;
    const double level =
        scale == Scale::kTensorFlow ? std::round(x * 32768) : std::trunc(x * 32767);
    le(out, static_cast<int16_t>(std::clamp(level, -32768.0, 32767.0)));
  }
  return out;
}

Array part(const Array& batch, int64_t index) {
  Array one = batch;
  one.shape.erase(one.shape.begin());
  one.data = static_cast<const char*>(batch.data) +
             static_cast<size_t>(index) * one.count() * element_size(batch.type);
  return one;
}

}  // namespace sonde::writer

namespace sonde::summary {

using namespace sonde::writer;

Summary encoded_images(std::string_view tag, int64_t width, int64_t height,
                       std::span<const std::string> images, const About& about) {
  std::vector<std::string> cells{std::to_string(width), std::to_string(height)};
  cells.insert(cells.end(), images.begin(), images.end());
  return images_value(tag, std::move(cells), about);
}

Summary image(std::string_view tag, const Array& pixels, int max_outputs, const About& about) {
  const Array batch = batched(pixels, 4, true);
  if (batch.shape.size() != 4)
    return refused(tag, "an image has the shape [n, h, w, c], not " + shape_text(pixels.shape));
  const int64_t height = batch.shape[1], width = batch.shape[2], channels = batch.shape[3];
  if (channels < 1 || channels > 4)
    return refused(tag, fmt::format("an image has 1 to 4 channels, not {}", channels));
  std::vector<std::string> encoded;
  for (int64_t i = 0; i < std::min<int64_t>(batch.shape[0], std::max(max_outputs, 0)); ++i) {
    const std::vector<uint8_t> bytes = to_bytes(part(batch, i), Scale::kTensorFlow);
    auto png =
        sonde::image::encode_png({std::as_bytes(std::span(bytes)), static_cast<uint32_t>(width),
                                  static_cast<uint32_t>(height), static_cast<uint32_t>(channels)});
    if (!png) return refused(tag, png.error().text);
    encoded.push_back(std::move(*png));
  }
  return encoded_images(tag, width, height, encoded, about);
}

Summary video(std::string_view tag, const Array& frames, double frames_per_s, const About& about) {
  if (frames.shape.size() != 4)
    return refused(tag, "a video has the shape [t, h, w, c], not " + shape_text(frames.shape));
  const std::vector<uint8_t> bytes = to_bytes(frames, Scale::kTensorFlow);
  const auto side = [&](size_t axis) { return static_cast<uint32_t>(frames.shape[axis]); };
  auto gif = sonde::image::encode_gif(
      {std::as_bytes(std::span(bytes)), side(0), side(2), side(1), side(3), frames_per_s});
  if (!gif) return refused(tag, gif.error().text);
  return encoded_images(tag, side(2), side(1), std::span(&*gif, 1), about);
}

Summary audio(std::string_view tag, const Array& samples, int sample_rate, int max_outputs,
              const About& about) {
  const Array batch = batched(samples, 3, true);
  if (batch.shape.size() != 3)
    return refused(
        tag, "audio has the shape [clips, frames, channels], not " + shape_text(samples.shape));
  if (sample_rate <= 0) return refused(tag, "the sample rate must be positive");
  std::vector<std::string> cells;
  for (int64_t i = 0; i < std::min<int64_t>(batch.shape[0], std::max(max_outputs, 0)); ++i) {
    cells.push_back(
        wav(part(batch, i), batch.shape[1], batch.shape[2], sample_rate, Scale::kTensorFlow));
    cells.emplace_back();
  }
  const std::vector<int64_t> shape{static_cast<int64_t>(cells.size() / 2), 2};
  return one_value(tag, [&](wire::Encoder& value) {
    put_strings(value, cells, shape);
    put_metadata(value, {"audio", "\x10\x0b"}, about);  // encoding = WAV
  });
}

}  // namespace sonde::summary
