// Values that are lists of bytes (images, audio, graphs) and histograms, in today's form whatever
// they were written as. See event/value.h for how to get a ValueView from a store::Reference.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "log/event/value.h"

namespace sonde::event {

// The elements of a BLOB_SEQUENCE value. Views point into the payload (or into `owned`, for the
// sizes of an old image) and live as long as it.
struct BlobSequence {
  std::vector<std::string_view> items;
  std::shared_ptr<const std::string> owned;
};

// images: [width, height, image, image, ...] with sizes as decimal text; audio: [clip, clip, ...]
// (labels dropped, as TensorBoard does); graphs, run metadata, Keras models: [bytes]. `plugin` is
// the series' plug-in. kUnsupported when the value is of another kind (a tag that changed kind).
Result<BlobSequence> blob_sequence(const ValueView& value, std::string_view plugin);
// The same from an event's payload: find_value, then blob_sequence.
Result<BlobSequence> blob_sequence(Bytes payload, uint32_t value_index, std::string_view plugin);

struct AudioInfo {
  double sample_rate = 0;  // 0 when unknown: only the old form states it
  std::string content_type;
};
// Of an old audio value; everything else is WAV without further information.
AudioInfo audio_info(const ValueView& value);

struct Bucket {
  double left = 0, right = 0, count = 0;
};
// A histogram as [left, right, count] rows in f64. Old HistogramProtos lose their empty outer
// buckets and get min and max as outer edges (TensorBoard's Python reader; formats.md of the
// docs). kUnsupported when the value is no histogram.
Result<std::vector<Bucket>> histogram(const ValueView& value);
Result<std::vector<Bucket>> histogram(Bytes payload, uint32_t value_index);

// The strings of a text value with its shape.
struct Text {
  std::vector<std::string_view> strings;  // row-major; point into the payload
  std::vector<int64_t> dims;              // empty = a single string
};
Result<Text> text(const ValueView& value);

}  // namespace sonde::event
