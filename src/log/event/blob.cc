#include "log/event/blob.h"

#include <algorithm>
#include <utility>

#include "codec/fields/event.h"
#include "codec/wire.h"
#include "log/event/tensor.h"

namespace sonde::event {
namespace {

struct ImageView {
  int64_t width = 0, height = 0;
  std::string_view encoded;
};

Result<ImageView> parse_image(Bytes message) {
  ImageView image;
  wire::Cursor cursor(message);
  for (wire::Field field; cursor.next(field);) {
    if (field.number == fields::Image::kHeight) image.height = static_cast<int32_t>(field.as_int());
    if (field.number == fields::Image::kWidth) image.width = static_cast<int32_t>(field.as_int());
    if (field.number == fields::Image::kEncodedImage && field.is_bytes())
      image.encoded = field.text();
  }
  if (!cursor.ok()) return fail(Code::kCorrupt, "the image summary is malformed");
  return image;
}

Result<std::string_view> encoded_audio(Bytes message) {
  std::string_view encoded;
  wire::Cursor cursor(message);
  for (wire::Field field; cursor.next(field);) {
    if (field.number == fields::Audio::kEncodedAudio && field.is_bytes()) encoded = field.text();
  }
  if (!cursor.ok()) return fail(Code::kCorrupt, "the audio summary is malformed");
  return encoded;
}

Result<BlobSequence> from_tensor(const ValueView& value, std::string_view plugin) {
  SONDE_TRY(tensor, parse_tensor(value.body));
  SONDE_TRY(strings, decode_strings(tensor));
  BlobSequence blobs;
  blobs.items = std::move(strings);
  if (plugin == "audio" && tensor.dims.size() > 1 && tensor.dims[0] > 0) {
    // (clip, label) pairs: the first string of each row is the clip.
    const size_t stride = blobs.items.size() / static_cast<size_t>(tensor.dims[0]);
    size_t kept = 0;
    for (size_t at = 0; stride > 0 && at < blobs.items.size(); at += stride)
      blobs.items[kept++] = blobs.items[at];
    blobs.items.resize(kept);
  }
  return blobs;
}

Result<std::vector<Bucket>> from_histogram_proto(Bytes message) {
  double min = 0, max = 0;
  std::vector<double> limits, counts;
  bool ok = true;
  wire::Cursor cursor(message);
  for (wire::Field field; ok && cursor.next(field);) {
    if (field.number == fields::Histogram::kMin) min = field.as_double();
    if (field.number == fields::Histogram::kMax) max = field.as_double();
    if (field.number == fields::Histogram::kBucketLimits)
      ok = wire::for_each_fixed<double>(field, [&](double v) { limits.push_back(v); });
    if (field.number == fields::Histogram::kBuckets)
      ok = wire::for_each_fixed<double>(field, [&](double v) { counts.push_back(v); });
  }
  if (!ok || !cursor.ok()) return fail(Code::kCorrupt, "the histogram is malformed");
  const size_t n = std::min(limits.size(), counts.size());
  size_t begin = 0, end = n;
  while (begin < end && counts[begin] == 0) ++begin;
  while (end > begin && counts[end - 1] == 0) --end;
  std::vector<Bucket> buckets;
  buckets.reserve(end - begin);
  for (size_t i = begin; i < end; ++i) {
    buckets.push_back({.left = i == begin ? min : limits[i - 1],
                       .right = i + 1 == end ? max : limits[i],
                       .count = counts[i]});
  }
  return buckets;
}

BlobSequence blobs_of(const ImageView& image) {
  BlobSequence blobs;
  const std::string width = std::to_string(image.width);
  const auto sizes = std::make_shared<const std::string>(width + std::to_string(image.height));
  const std::string_view both = *sizes;
  blobs.items = {both.substr(0, width.size()), both.substr(width.size()), image.encoded};
  blobs.owned = sizes;
  return blobs;
}

}  // namespace

Result<BlobSequence> blob_sequence(const ValueView& value, std::string_view plugin) {
  BlobSequence blobs;
  switch (value.kind) {
    case ValueKind::kImage:
      return parse_image(value.body).map(blobs_of);
    case ValueKind::kAudio: {
      SONDE_TRY(encoded, encoded_audio(value.body));
      blobs.items = {encoded};
      return blobs;
    }
    case ValueKind::kGraphDef:
    case ValueKind::kTaggedRunMetadata:
    case ValueKind::kMetaGraphDef:
      blobs.items = {as_text(value.body)};
      return blobs;
    case ValueKind::kTensor:
      return from_tensor(value, plugin);
    default:
      return fail(Code::kUnsupported, "the value is not a sequence of blobs");
  }
}

Result<BlobSequence> blob_sequence(Bytes payload, uint32_t value_index, std::string_view plugin) {
  SONDE_TRY(value, find_value(payload, value_index));
  return blob_sequence(value, plugin);
}

AudioInfo audio_info(const ValueView& value) {
  AudioInfo info{.sample_rate = 0, .content_type = "audio/wav"};
  if (value.kind != ValueKind::kAudio) return info;
  wire::Cursor cursor(value.body);
  for (wire::Field field; cursor.next(field);) {
    if (field.number == fields::Audio::kSampleRate)
      info.sample_rate = static_cast<double>(field.as_float());
    if (field.number == fields::Audio::kContentType && field.is_bytes() && !field.bytes.empty())
      info.content_type = field.text();
  }
  return info;
}

Result<std::vector<Bucket>> histogram(const ValueView& value) {
  if (value.kind == ValueKind::kHisto) return from_histogram_proto(value.body);
  if (value.kind != ValueKind::kTensor)
    return fail(Code::kUnsupported, "the value is not a histogram");
  SONDE_TRY(tensor, parse_tensor(value.body));
  if (tensor.dims.size() != 2 || tensor.dims[1] != 3)
    return fail(Code::kUnsupported, "the tensor is not a list of (left, right, count) rows");
  SONDE_TRY(numbers, decode_doubles(tensor));
  std::vector<Bucket> buckets(numbers.size() / 3);
  for (size_t i = 0; i < buckets.size(); ++i)
    buckets[i] = {numbers[3 * i], numbers[3 * i + 1], numbers[3 * i + 2]};
  return buckets;
}

Result<std::vector<Bucket>> histogram(Bytes payload, uint32_t value_index) {
  SONDE_TRY(value, find_value(payload, value_index));
  return histogram(value);
}

Result<Text> text(const ValueView& value) {
  if (value.kind != ValueKind::kTensor) return fail(Code::kUnsupported, "the value is not text");
  SONDE_TRY(tensor, parse_tensor(value.body));
  SONDE_TRY(strings, decode_strings(tensor));
  return Text{.strings = std::move(strings), .dims = std::move(tensor.dims)};
}

}  // namespace sonde::event
