#include "log/write/values.h"

#include <cmath>

#include "codec/fields/event.h"
#include "codec/fields/tensor.h"

namespace sonde::writer {
namespace {

template <class T>
T at(const Array& array, size_t i) {
  T value;
  std::memcpy(&value, static_cast<const char*>(array.data) + i * sizeof(T), sizeof(T));
  return value;
}

double half(uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const double fraction = bits & 0x3ff;
  double value;
  if (exponent == 0) {
    value = std::ldexp(fraction, -24);
  } else if (exponent == 31) {
    value = fraction == 0 ? INFINITY : NAN;
  } else {
    value = std::ldexp(1024 + fraction, exponent - 25);
  }
  return (bits & 0x8000) != 0 ? -value : value;
}

}  // namespace

size_t element_size(DataType type) {
  switch (type) {
    case DataType::kUint8:
    case DataType::kInt8:
    case DataType::kBool:
      return 1;
    case DataType::kInt16:
    case DataType::kUint16:
    case DataType::kFloat16:
    case DataType::kBfloat16:
      return 2;
    case DataType::kFloat64:
    case DataType::kInt64:
    case DataType::kUint64:
      return 8;
    default:
      return 4;
  }
}

double element(const Array& array, size_t i) {
  switch (array.type) {
    case DataType::kFloat32:
      return at<float>(array, i);
    case DataType::kFloat64:
      return at<double>(array, i);
    case DataType::kInt32:
      return at<int32_t>(array, i);
    case DataType::kUint8:
    case DataType::kBool:
      return at<uint8_t>(array, i);
    case DataType::kInt16:
      return at<int16_t>(array, i);
    case DataType::kInt8:
      return at<int8_t>(array, i);
    case DataType::kInt64:
      return static_cast<double>(at<int64_t>(array, i));
    case DataType::kUint16:
      return at<uint16_t>(array, i);
    case DataType::kUint32:
      return at<uint32_t>(array, i);
    case DataType::kUint64:
      return static_cast<double>(at<uint64_t>(array, i));
    case DataType::kBfloat16:
      return std::bit_cast<float>(static_cast<uint32_t>(at<uint16_t>(array, i)) << 16);
    case DataType::kFloat16:
      return half(at<uint16_t>(array, i));
  }
  return NAN;
}

std::vector<double> as_doubles(const Array& array) {
  std::vector<double> out(array.count());
  for (size_t i = 0; i < out.size(); ++i) out[i] = element(array, i);
  return out;
}

std::string shape_text(std::span<const int64_t> shape) {
  std::string out = "[";
  for (const int64_t d : shape) out += (out.size() > 1 ? ", " : "") + std::to_string(d);
  return out + "]";
}

void put_shape(wire::Encoder& tensor, std::span<const int64_t> shape) {
  tensor.message(fields::Tensor::kShape, [&](wire::Encoder& dims) {
    for (const int64_t size : shape)
      dims.message(fields::TensorShape::kDim, [&](wire::Encoder& dim) {
        if (size != 0) dim.varint(fields::Dim::kSize, static_cast<uint64_t>(size));
      });
  });
}

void put_tensor(wire::Encoder& value, const Array& data) {
  value.message(fields::SummaryValue::kTensor, [&](wire::Encoder& tensor) {
    tensor.varint(fields::Tensor::kDtype, static_cast<uint64_t>(data.type));
    put_shape(tensor, data.shape);
    const size_t bytes = data.count() * element_size(data.type);
    if (bytes != 0)
      tensor.bytes(fields::Tensor::kContent, {static_cast<const char*>(data.data), bytes});
  });
}

void put_strings(wire::Encoder& value, std::span<const std::string> cells,
                 std::span<const int64_t> shape) {
  value.message(fields::SummaryValue::kTensor, [&](wire::Encoder& tensor) {
    tensor.varint(fields::Tensor::kDtype, kDtString);
    put_shape(tensor, shape);
    for (const std::string& cell : cells) tensor.bytes(fields::Tensor::kString, cell);
  });
}

void put_metadata(wire::Encoder& value, const Plugin& plugin, const About& about) {
  if (plugin.name.empty() && about.display_name.empty() && about.description.empty()) return;
  value.message(fields::SummaryValue::kMetadata, [&](wire::Encoder& metadata) {
    if (!plugin.name.empty()) {
      metadata.message(fields::SummaryMetadata::kPluginData, [&](wire::Encoder& data) {
        data.bytes(fields::PluginData::kName, plugin.name);
        if (!plugin.content.empty()) data.bytes(fields::PluginData::kContent, plugin.content);
      });
    }
    if (!about.display_name.empty())
      metadata.bytes(fields::SummaryMetadata::kDisplayName, about.display_name);
    if (!about.description.empty())
      metadata.bytes(fields::SummaryMetadata::kDescription, about.description);
  });
}

}  // namespace sonde::writer
