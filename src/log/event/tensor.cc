#include "log/event/tensor.h"

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include "codec/fields/tensor.h"
#include "codec/wire.h"

namespace sonde::event {
namespace {

constexpr uint64_t kMaxFill = uint64_t{1} << 24;  // elements that no byte of the file stands for

// How an element is stored: the typed field's number, its width in tensor_content.
struct Layout {
  uint32_t field;
  uint32_t width;  // bytes an element in tensor_content; 0 = not there
};

Layout layout_of(DataType type) {
  switch (type) {
    case DataType::kFloat:
      return {fields::Tensor::kFloat, 4};
    case DataType::kDouble:
      return {fields::Tensor::kDouble, 8};
    case DataType::kInt32:
    case DataType::kQint32:
      return {fields::Tensor::kInt, 4};
    case DataType::kInt16:
    case DataType::kUint16:
    case DataType::kQint16:
    case DataType::kQuint16:
      return {fields::Tensor::kInt, 2};
    case DataType::kInt8:
    case DataType::kUint8:
    case DataType::kQint8:
    case DataType::kQuint8:
    case DataType::kInt4:
    case DataType::kUint4:
    case DataType::kInt2:
    case DataType::kUint2:
    case DataType::kFloat4E2m1fn:
      return {fields::Tensor::kInt, 1};
    case DataType::kString:
      return {fields::Tensor::kString, 0};
    case DataType::kComplex64:
      return {fields::Tensor::kComplex64, 8};
    case DataType::kComplex128:
      return {fields::Tensor::kComplex128, 16};
    case DataType::kInt64:
      return {fields::Tensor::kInt64, 8};
    case DataType::kBool:
      return {fields::Tensor::kBool, 1};
    case DataType::kHalf:
    case DataType::kBfloat16:
      return {fields::Tensor::kHalf, 2};
    case DataType::kUint32:
      return {fields::Tensor::kUint32, 4};
    case DataType::kUint64:
      return {fields::Tensor::kUint64, 8};
    case DataType::kFloat8E5m2:
    case DataType::kFloat8E4m3fn:
    case DataType::kFloat8E4m3fnuz:
    case DataType::kFloat8E4m3b11fnuz:
    case DataType::kFloat8E5m2fnuz:
      return {fields::Tensor::kFloat8, 1};
    default:
      return {0, 0};
  }
}

Number number(NumberType type, uint64_t bits) {
  Number result;
  result.type = type;
  result.u64 = bits;
  return result;
}
Number number(float value) {
  Number result;
  result.f32 = value;
  return result;
}
Number number(double value) {
  Number result;
  result.type = NumberType::kFloat64;
  result.f64 = value;
  return result;
}
Number integer(int64_t value) { return number(NumberType::kInt64, static_cast<uint64_t>(value)); }

// float4: sign, two bits of exponent (bias 1), one of mantissa.
float float4_to_float(uint8_t bits) {
  constexpr std::array<float, 8> kMagnitudes = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
  const float magnitude = kMagnitudes[bits & 7];
  return bits & 8 ? -magnitude : magnitude;
}

// The element whose raw bits (from either encoding) are `raw`.
Number from_bits(DataType type, uint64_t raw) {
  switch (type) {
    case DataType::kFloat:
    case DataType::kComplex64:
      return number(std::bit_cast<float>(static_cast<uint32_t>(raw)));
    case DataType::kDouble:
    case DataType::kComplex128:
      return number(std::bit_cast<double>(raw));
    case DataType::kInt32:
    case DataType::kQint32:
      return integer(static_cast<int32_t>(raw));
    case DataType::kInt16:
    case DataType::kQint16:
      return integer(static_cast<int16_t>(raw));
    case DataType::kInt8:
    case DataType::kQint8:
      return integer(static_cast<int8_t>(raw));
    case DataType::kUint16:
    case DataType::kQuint16:
      return integer(static_cast<uint16_t>(raw));
    case DataType::kUint8:
    case DataType::kQuint8:
      return integer(static_cast<uint8_t>(raw));
    case DataType::kInt4:
      return integer(static_cast<int8_t>(static_cast<uint8_t>(raw << 4)) >> 4);
    case DataType::kUint4:
      return integer(static_cast<int64_t>(raw & 15));
    case DataType::kInt2:
      return integer(static_cast<int8_t>(static_cast<uint8_t>(raw << 6)) >> 6);
    case DataType::kUint2:
      return integer(static_cast<int64_t>(raw & 3));
    case DataType::kInt64:
      return integer(static_cast<int64_t>(raw));
    case DataType::kUint32:
      return integer(static_cast<uint32_t>(raw));
    case DataType::kUint64:
      return number(NumberType::kUint64, raw);
    case DataType::kBool:
      return number(NumberType::kBool, raw != 0);
    case DataType::kHalf:
      return number(half_to_float(static_cast<uint16_t>(raw)));
    case DataType::kBfloat16:
      return number(bfloat16_to_float(static_cast<uint16_t>(raw)));
    case DataType::kFloat4E2m1fn:
      return number(float4_to_float(static_cast<uint8_t>(raw)));
    default:
      return number(float8_to_float(type, static_cast<uint8_t>(raw)));
  }
}

// Calls fn(Number) with each element that the message gives, at most `count`. Returns how many, or
// kCorrupt.
template <class Fn>
Result<uint64_t> for_each_given(const TensorView& tensor, Layout layout, uint64_t count, Fn&& fn) {
  const DataType type = tensor.dtype;
  uint64_t given = 0;
  const auto take = [&](uint64_t raw) {
    if (given < count) fn(from_bits(type, raw));
    ++given;
  };
  if (!tensor.content.empty()) {
    const uint64_t n = std::min<uint64_t>(count, tensor.content.size() / layout.width);
    for (uint64_t i = 0; i < n; ++i) {
      uint64_t raw = 0;  // of a complex number the real part
      std::memcpy(&raw, tensor.content.data() + i * layout.width, std::min(layout.width, 8u));
      if (type == DataType::kComplex64) raw &= 0xffffffff;
      take(raw);
    }
    return given;
  }
  bool ok = true;
  uint64_t complex_at = 0;
  wire::Cursor cursor(tensor.message);
  for (wire::Field field; ok && cursor.next(field);) {
    if (field.number != layout.field) continue;
    const auto real_part = [&](uint64_t raw) {
      if (complex_at++ % 2 == 0) take(raw);
    };
    const auto widen = [](uint32_t bits) { return uint64_t{bits}; };
    switch (layout.field) {
      case fields::Tensor::kFloat:
        ok = wire::for_each_fixed<uint32_t>(field, [&](uint32_t v) { take(widen(v)); });
        break;
      case fields::Tensor::kDouble:
        ok = wire::for_each_fixed<uint64_t>(field, take);
        break;
      case fields::Tensor::kComplex64:
        ok = wire::for_each_fixed<uint32_t>(field, [&](uint32_t v) { real_part(widen(v)); });
        break;
      case fields::Tensor::kComplex128:
        ok = wire::for_each_fixed<uint64_t>(field, real_part);
        break;
      case fields::Tensor::kFloat8:
        for (const std::byte b : field.is_bytes() ? field.bytes : Bytes{})
          take(static_cast<uint64_t>(b));
        break;
      default:
        ok = wire::for_each_varint(field, take);
    }
  }
  if (!ok || !cursor.ok()) return fail(Code::kCorrupt, "the tensor's values are malformed");
  return std::min(given, count);
}

template <class T>
T converted(Number value) {
  if constexpr (std::is_same_v<T, int64_t>) {
    if (value.type == NumberType::kFloat32 || value.type == NumberType::kFloat64) {
      const double real = value.as_double();
      if (std::isnan(real)) return 0;
      if (real >= 9223372036854775807.0) return std::numeric_limits<int64_t>::max();
      if (real <= -9223372036854775808.0) return std::numeric_limits<int64_t>::min();
      return static_cast<int64_t>(real);
    }
    return value.i64;
  } else if constexpr (std::is_same_v<T, float>) {
    if (value.type == NumberType::kFloat32) return value.f32;
    return static_cast<float>(value.as_double());
  } else {
    return value.as_double();
  }
}

Result<uint64_t> fill_checked(uint64_t count, uint64_t given) {
  if (count - given > kMaxFill)
    return fail(Code::kTooLarge, "the tensor claims " + std::to_string(count) +
                                     " elements but gives only " + std::to_string(given));
  return count;
}

template <class T>
Result<std::vector<T>> decode(const TensorView& tensor, uint64_t limit) {
  SONDE_TRY(count, element_count(tensor, limit));
  const Layout layout = layout_of(tensor.dtype);
  if (layout.field == 0 || layout.field == 8)
    return fail(Code::kUnsupported,
                "a tensor of type " + std::string(name_of(tensor.dtype)) + " holds no numbers");
  std::vector<T> out;
  if constexpr (std::is_same_v<T, double>) {  // histograms, curves: what is there already is copied
    if (tensor.dtype == DataType::kDouble && count > 0 && tensor.content.size() >= sizeof(T)) {
      const uint64_t given = std::min<uint64_t>(count, tensor.content.size() / sizeof(T));
      SONDE_TRY(all, fill_checked(count, given));
      out.resize(given);
      std::memcpy(out.data(), tensor.content.data(), given * sizeof(T));
      out.resize(all, out.empty() ? T{} : out.back());
      return out;
    }
  }
  out.reserve(std::min<uint64_t>(count, tensor.message.size()));
  SONDE_TRY(given, for_each_given(tensor, layout, count,
                                  [&](Number value) { out.push_back(converted<T>(value)); }));
  SONDE_TRY(all, fill_checked(count, given));
  out.resize(all, out.empty() ? T{} : out.back());
  return out;
}

}  // namespace

double Number::as_double() const {
  switch (type) {
    case NumberType::kFloat32:
      return static_cast<double>(f32);
    case NumberType::kFloat64:
      return f64;
    case NumberType::kInt64:
      return static_cast<double>(i64);
    default:
      return static_cast<double>(u64);
  }
}

std::string_view name_of(DataType type) {
  constexpr std::array<std::string_view, 34> kNames = {"invalid",
                                                       "float32",
                                                       "float64",
                                                       "int32",
                                                       "uint8",
                                                       "int16",
                                                       "int8",
                                                       "string",
                                                       "complex64",
                                                       "int64",
                                                       "bool",
                                                       "qint8",
                                                       "quint8",
                                                       "qint32",
                                                       "bfloat16",
                                                       "qint16",
                                                       "quint16",
                                                       "uint16",
                                                       "complex128",
                                                       "float16",
                                                       "resource",
                                                       "variant",
                                                       "uint32",
                                                       "uint64",
                                                       "float8_e5m2",
                                                       "float8_e4m3fn",
                                                       "float8_e4m3fnuz",
                                                       "float8_e4m3b11fnuz",
                                                       "float8_e5m2fnuz",
                                                       "int4",
                                                       "uint4",
                                                       "int2",
                                                       "uint2",
                                                       "float4_e2m1fn"};
  const auto index = static_cast<size_t>(type);
  return index < kNames.size() ? kNames[index] : "unknown";
}

Result<TensorView> parse_tensor(Bytes message) {
  TensorView tensor;
  tensor.message = message;
  bool ok = true;
  wire::Cursor cursor(message);
  for (wire::Field field; ok && cursor.next(field);) {
    if (field.number == fields::Tensor::kDtype && field.type == wire::Type::kVarint) {
      const uint64_t type = field.bits > 100 && field.bits < 200 ? field.bits - 100 : field.bits;
      tensor.dtype = type < 64 ? static_cast<DataType>(type) : DataType::kInvalid;
    } else if (field.number == fields::Tensor::kContent && field.is_bytes()) {
      tensor.content = field.bytes;
    } else if (field.number == fields::Tensor::kShape && field.is_bytes()) {
      wire::Cursor shape(field.bytes);
      for (wire::Field dim; ok && shape.next(dim);) {
        if (dim.number != fields::TensorShape::kDim || !dim.is_bytes()) continue;
        int64_t size = 0;
        wire::Cursor inner(dim.bytes);
        for (wire::Field part; inner.next(part);) {
          if (part.number == fields::Dim::kSize && part.type == wire::Type::kVarint)
            size = part.as_int();
        }
        ok = inner.ok() && size >= 0 && tensor.dims.size() < kMaxRank;
        tensor.dims.push_back(size);
      }
      ok = ok && shape.ok();
    }
  }
  if (!ok || !cursor.ok()) return fail(Code::kCorrupt, "the tensor is malformed");
  return tensor;
}

Result<uint64_t> element_count(const TensorView& tensor, uint64_t limit) {
  uint64_t count = 1;
  bool above = false;
  for (const int64_t dim : tensor.dims) {
    const auto size = static_cast<uint64_t>(dim);
    if (size == 0) return uint64_t{0};  // whatever the others claim
    above = above || size > limit || count > limit / size;
    if (!above) count *= size;
  }
  if (above || count > limit)
    return fail(Code::kTooLarge,
                "the tensor claims more than " + std::to_string(limit) + " elements");
  return count;
}

Result<std::vector<double>> decode_doubles(const TensorView& tensor, uint64_t limit) {
  return decode<double>(tensor, limit);
}

Result<std::vector<float>> decode_floats(const TensorView& tensor, uint64_t limit) {
  return decode<float>(tensor, limit);
}

Result<std::vector<int64_t>> decode_integers(const TensorView& tensor, uint64_t limit) {
  return decode<int64_t>(tensor, limit);
}

Result<std::vector<std::string_view>> decode_strings(const TensorView& tensor, uint64_t limit) {
  if (tensor.dtype != DataType::kString)
    return fail(Code::kUnsupported,
                "a tensor of type " + std::string(name_of(tensor.dtype)) + " holds no text");
  SONDE_TRY(count, element_count(tensor, limit));
  std::vector<std::string_view> out;
  wire::Cursor cursor(tensor.message);
  for (wire::Field field; out.size() < count && cursor.next(field);) {
    if (field.number == fields::Tensor::kString && field.is_bytes()) out.push_back(field.text());
  }
  if (!cursor.ok()) return fail(Code::kCorrupt, "the tensor's strings are malformed");
  SONDE_TRY(all, fill_checked(count, out.size()));
  out.resize(all, out.empty() ? std::string_view{} : out.back());
  return out;
}

// Sonde's writer before 0.2 put a double beside the float of a tensor when the float had to be
// rounded; today it stands beside a simple_value (kExactValueField).
static std::optional<double> exact_double(const TensorView& tensor) {
  if (tensor.dtype != DataType::kFloat) return {};
  wire::Cursor cursor(tensor.message);
  for (wire::Field field; cursor.next(field);) {
    if (field.number != fields::Tensor::kDouble) continue;
    if (field.type == wire::Type::kFixed64) return field.as_double();
    if (field.is_bytes() && field.bytes.size() == 8) return load<double>(field.bytes, 0);
  }
  return {};
}

Result<Number> decode_scalar(const TensorView& tensor) {
  SONDE_TRY(count, element_count(tensor));
  const Layout layout = layout_of(tensor.dtype);
  if (count != 1 || layout.field == 0 || layout.field == 8)
    return fail(Code::kUnsupported, "the tensor is not a single number");
  Number value = from_bits(tensor.dtype, 0);
  SONDE_TRY(given, for_each_given(tensor, layout, 1, [&](Number n) { value = n; }));
  if (given == 0 && !tensor.content.empty())
    return fail(Code::kCorrupt, "the tensor's content is shorter than one element");
  if (const auto exact = exact_double(tensor)) {
    value.type = NumberType::kFloat64;
    value.f64 = *exact;
  }
  return value;
}

float half_to_float(uint16_t bits) {
  const uint32_t sign = uint32_t{bits & 0x8000u} << 16;
  const uint32_t exponent = (bits >> 10) & 31u, mantissa = bits & 1023u;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
  if (exponent == 0) {
    const float magnitude = std::ldexp(static_cast<float>(mantissa), -24);
    return sign ? -magnitude : magnitude;
  }
  return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
}

float bfloat16_to_float(uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); }

float float8_to_float(DataType type, uint8_t bits) {
  struct Form {
    int mantissa_bits, bias;
    bool has_infinity;       // IEEE-like: the top exponent is infinity and NaN
    bool negative_zero_nan;  // "uz": no infinities, 0x80 is the only NaN
  };
  Form form{3, 7, false, false};  // E4M3FN: only all-ones is NaN
  if (type == DataType::kFloat8E5m2) form = {2, 15, true, false};
  if (type == DataType::kFloat8E4m3fnuz) form = {3, 8, false, true};
  if (type == DataType::kFloat8E4m3b11fnuz) form = {3, 11, false, true};
  if (type == DataType::kFloat8E5m2fnuz) form = {2, 16, false, true};
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const int mantissa = bits & ((1 << form.mantissa_bits) - 1);
  const int exponent = (bits & 0x7f) >> form.mantissa_bits;
  const int top = (1 << (7 - form.mantissa_bits)) - 1;
  if (form.negative_zero_nan && bits == 0x80) return kNan;
  if (form.has_infinity && exponent == top) {
    if (mantissa != 0) return kNan;
    return bits & 0x80 ? -std::numeric_limits<float>::infinity()
                       : std::numeric_limits<float>::infinity();
  }
  if (type == DataType::kFloat8E4m3fn && (bits & 0x7f) == 0x7f) return kNan;
  const float magnitude =
      exponent == 0 ? std::ldexp(static_cast<float>(mantissa), 1 - form.bias - form.mantissa_bits)
                    : std::ldexp(static_cast<float>(mantissa + (1 << form.mantissa_bits)),
                                 exponent - form.bias - form.mantissa_bits);
  return bits & 0x80 ? -magnitude : magnitude;
}

}  // namespace sonde::event
