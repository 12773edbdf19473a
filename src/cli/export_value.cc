#include "cli/export_value.h"

#include "base/strings.h"
#include "codec/json.h"
#include "log/event/blob.h"
#include "log/event/tensor.h"

namespace sonde::cli {

void append_value_json(std::string& out, const event::ValueView& value,
                       const store::Series& series) {
  JsonWriter json(out);
  if (const auto buckets = series.metadata().plugin == "histograms"
                               ? event::histogram(value)
                               : fail(Code::kUnsupported, "")) {
    json.array([&] {
      for (const event::Bucket& bucket : *buckets) {
        json.array([&] {
          json.number(bucket.left);
          json.number(bucket.right);
          json.number(bucket.count);
        });
      }
    });
    return;
  }
  if (series.metadata().data_class == store::DataClass::kBlobSequence) {
    const auto blobs = event::blob_sequence(value, series.metadata().plugin);
    // Images say their size in the first two; the bytes themselves are no text.
    json.array([&] {
      for (size_t i = 0; blobs && i < blobs->items.size(); ++i) {
        if (i < 2 && series.metadata().plugin == "images")
          json.string(to_utf8(blobs->items[i]));
        else
          json.object([&] { json.key("bytes").number(uint64_t{blobs->items[i].size()}); });
      }
    });
    return;
  }
  if (value.kind == event::ValueKind::kTensor) {
    if (const auto tensor = event::parse_tensor(value.body)) {
      if (const auto strings = event::decode_strings(*tensor)) {
        const bool one = tensor->dims.empty() && strings->size() == 1;
        if (one) return json.string(to_utf8(strings->front()));
        return json.array([&] {
          for (const std::string_view text : *strings) json.string(to_utf8(text));
        });
      }
      if (const auto numbers = event::decode_doubles(*tensor)) {
        return json.array([&] {
          for (const double number : *numbers) json.number(number);
        });
      }
    }
  }
  if (value.kind == event::ValueKind::kSimple)
    return json.number(value.has_exact ? value.exact : double{value.simple});
  json.null();
}

}  // namespace sonde::cli
