// Field numbers of tensorflow.TensorProto and TensorShapeProto (tensor.proto, tensor_shape.proto).
#pragma once

#include <cstdint>

namespace sonde::fields {

// Float … Float8: the values of a type, when they are not in Content.
struct Tensor {
  enum : uint32_t {
    kDtype = 1,
    kShape = 2,
    kVersion = 3,
    kContent = 4,
    kFloat = 5,
    kDouble = 6,
    kInt = 7,
    kString = 8,
    kComplex64 = 9,
    kInt64 = 10,
    kBool = 11,
    kComplex128 = 12,
    kHalf = 13,
    kResource = 14,
    kVariant = 15,
    kUint32 = 16,
    kUint64 = 17,
    kFloat8 = 18,
  };
};

struct TensorShape {
  enum : uint32_t {
    kDim = 2,
    kUnknownRank = 3,
  };
};

// TensorShapeProto.Dim
struct Dim {
  enum : uint32_t {
    kSize = 1,
    kName = 2,
  };
};

}  // namespace sonde::fields
