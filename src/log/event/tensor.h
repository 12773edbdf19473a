// tensorflow.TensorProto in every encoding: tensor_content or typed fields, packed or not, halves,
// bfloat16 and float8, and TensorFlow's rule that the last given value fills the rest. Element
// counts come from strangers' files, so each decode has a hard limit and nothing is allocated
// before the count has been compared with it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace sonde::event {

enum class DataType : int32_t {
  kInvalid = 0,
  kFloat = 1,
  kDouble = 2,
  kInt32 = 3,
  kUint8 = 4,
  kInt16 = 5,
  kInt8 = 6,
  kString = 7,
  kComplex64 = 8,
  kInt64 = 9,
  kBool = 10,
  kQint8 = 11,
  kQuint8 = 12,
  kQint32 = 13,
  kBfloat16 = 14,
  kQint16 = 15,
  kQuint16 = 16,
  kUint16 = 17,
  kComplex128 = 18,
  kHalf = 19,
  kResource = 20,
  kVariant = 21,
  kUint32 = 22,
  kUint64 = 23,
  kFloat8E5m2 = 24,
  kFloat8E4m3fn = 25,
  kFloat8E4m3fnuz = 26,
  kFloat8E4m3b11fnuz = 27,
  kFloat8E5m2fnuz = 28,
  kInt4 = 29,
  kUint4 = 30,
  kInt2 = 31,
  kUint2 = 32,
  kFloat4E2m1fn = 33,
};

// "float32", "string", "bfloat16" ...: numpy's word where there is one.
std::string_view name_of(DataType type);

struct TensorView {
  DataType dtype = DataType::kInvalid;  // _REF twins are folded into the plain type
  std::vector<int64_t> dims;            // empty = rank 0; allocates nothing then
  Bytes content;                        // tensor_content
  Bytes message;                        // the whole TensorProto, for the typed fields
};

inline constexpr uint64_t kMaxElements = uint64_t{1} << 26;
inline constexpr size_t kMaxRank = 254;  // TensorFlow's own limit

// kCorrupt when malformed, of a rank beyond kMaxRank or with a negative dimension.
Result<TensorView> parse_tensor(Bytes message);

// The product of the dimensions (1 for rank 0); kTooLarge when above `limit`.
Result<uint64_t> element_count(const TensorView& tensor, uint64_t limit = kMaxElements);

// All elements in row-major order, missing ones filled by the last one given (zero when none is).
// Numeric and bool types; complex numbers give their real parts. kUnsupported for strings,
// resources and variants.
Result<std::vector<double>> decode_doubles(const TensorView& tensor, uint64_t limit = kMaxElements);
Result<std::vector<float>> decode_floats(const TensorView& tensor, uint64_t limit = kMaxElements);
// Integer types exactly (uint64 wraps); floating types are truncated towards zero.
Result<std::vector<int64_t>> decode_integers(const TensorView& tensor,
                                             uint64_t limit = kMaxElements);
// Views into the message. kUnsupported unless the type is STRING.
Result<std::vector<std::string_view>> decode_strings(const TensorView& tensor,
                                                     uint64_t limit = kMaxElements);

// A number in the precision it was written in.
enum class NumberType : uint8_t { kFloat32, kFloat64, kInt64, kUint64, kBool };
struct Number {
  NumberType type = NumberType::kFloat32;
  union {
    float f32 = 0;
    double f64;
    int64_t i64;
    uint64_t u64;  // also kBool: 0 or 1
  };
  double as_double() const;
};

// The only element of a numeric tensor of any rank; kUnsupported when it has none, several or text.
// Halves, bfloat16 and float8 become float32, which holds them exactly.
Result<Number> decode_scalar(const TensorView& tensor);

float half_to_float(uint16_t bits);
float bfloat16_to_float(uint16_t bits);
// One of the float8 types.
float float8_to_float(DataType type, uint8_t bits);

}  // namespace sonde::event
