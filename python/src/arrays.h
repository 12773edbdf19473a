// Arrays from Python as sonde::Array, and results on the way back. Everything that speaks the
// buffer protocol or DLPack is accepted without a copy and without importing NumPy.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <string>
#include <vector>

#include "sonde/summary.h"

namespace sonde::python {

namespace nb = nanobind;

using AnyArray = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;

inline DataType data_type(const AnyArray& array) {
  const nb::dlpack::dtype type = array.dtype();
  using Code = nb::dlpack::dtype_code;
  const bool is_signed = type.code == static_cast<uint8_t>(Code::Int);
  switch (type.code) {
    case static_cast<uint8_t>(Code::Bool):
      return DataType::kBool;
    case static_cast<uint8_t>(Code::Bfloat):
      return DataType::kBfloat16;
    case static_cast<uint8_t>(Code::Float):
      if (type.bits == 64) return DataType::kFloat64;
      if (type.bits == 32) return DataType::kFloat32;
      if (type.bits == 16) return DataType::kFloat16;
      break;
    case static_cast<uint8_t>(Code::Int):
    case static_cast<uint8_t>(Code::UInt):
      if (type.bits == 8) return is_signed ? DataType::kInt8 : DataType::kUint8;
      if (type.bits == 16) return is_signed ? DataType::kInt16 : DataType::kUint16;
      if (type.bits == 32) return is_signed ? DataType::kInt32 : DataType::kUint32;
      if (type.bits == 64) return is_signed ? DataType::kInt64 : DataType::kUint64;
      break;
    default:
      break;
  }
  throw nb::type_error("arrays of this element type cannot be logged");
}

// Valid as long as the Python object.
inline Array view(const AnyArray& array) {
  Array out{array.data(), data_type(array), {}};
  for (size_t i = 0; i < array.ndim(); ++i)
    out.shape.push_back(static_cast<int64_t>(array.shape(i)));
  return out;
}

inline nb::bytes bytes(const std::string& text) { return nb::bytes(text.data(), text.size()); }

inline std::string_view text(const nb::bytes& bytes) {
  return {static_cast<const char*>(bytes.data()), bytes.size()};
}

// A finished summary, or ValueError with its sentence.
inline nb::bytes bytes_of(const Summary& summary) {
  if (!summary.ok()) throw nb::value_error(summary.problem.c_str());
  return bytes(summary.bytes);
}

}  // namespace sonde::python
