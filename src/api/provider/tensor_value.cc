#include "api/provider/tensor_value.h"

#include <vector>

#include "codec/wire.h"
#include "log/event/blob.h"
#include "log/event/tensor.h"

namespace sonde::api::provider {
namespace {

enum : uint32_t { kDtype = 1, kShape = 2, kContent = 4 };  // of TensorProto

void put_shape(wire::Encoder& tensor, std::initializer_list<uint64_t> dims) {
  tensor.message(kShape, [&](wire::Encoder& shape) {
    for (const uint64_t size : dims) {
      shape.message(2, [&](wire::Encoder& dim) { dim.varint(1, size); });
    }
  });
}

std::string empty_tensor() {
  std::string out;
  wire::Encoder tensor(out);
  tensor.varint(kDtype, static_cast<uint64_t>(event::DataType::kFloat));
  put_shape(tensor, {0});
  return out;
}

std::string histogram_tensor(const std::vector<event::Bucket>& buckets) {
  std::string out;
  wire::Encoder tensor(out);
  tensor.varint(kDtype, static_cast<uint64_t>(event::DataType::kDouble));
  put_shape(tensor, {buckets.size(), 3});
  std::string content;
  for (const event::Bucket& bucket : buckets) {
    for (const double number : {bucket.left, bucket.right, bucket.count})
      content.append(reinterpret_cast<const char*>(&number), sizeof number);
  }
  tensor.bytes(kContent, content);
  return out;
}

template <class T>
Result<void> only_whether(const Result<T>& result) {
  if (!result) return fail(result.error());
  return {};
}

Result<void> decodable(const event::ValueView& value, std::string_view plugin) {
  if (plugin == "histograms") return only_whether(event::histogram(value));
  if (plugin == "text") return only_whether(event::text(value));
  SONDE_TRY(const tensor, event::parse_tensor(value.body));
  if (tensor.dtype == event::DataType::kString) return only_whether(event::decode_strings(tensor));
  return only_whether(event::element_count(tensor));
}

}  // namespace

Result<std::string> tensor_message(const event::ValueView& value, std::string_view plugin) {
  if (value.kind == event::ValueKind::kNone) return empty_tensor();
  if (value.kind == event::ValueKind::kHisto) {
    SONDE_TRY(const buckets, event::histogram(value));
    return histogram_tensor(buckets);
  }
  if (value.kind != event::ValueKind::kTensor)
    return fail(Code::kUnsupported, "the value is no tensor");
  // One value that does not decode would cost TensorBoard the whole answer.
  if (const auto checked = decodable(value, plugin); !checked) return fail(checked.error());
  return std::string(as_text(value.body));
}

}  // namespace sonde::api::provider
