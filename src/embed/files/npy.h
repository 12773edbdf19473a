// NumPy's .npy: the header, and one value of the array as a number or a text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sonde::embed {

struct NpyHeader {
  char kind = 'f';   // b, i, u, f; U and S where texts are allowed
  size_t width = 4;  // bytes a value
  bool is_big_endian = false, is_fortran = false;
  std::vector<uint64_t> shape;
  size_t end = 0;  // where the values begin

  bool is_text() const { return kind == 'U' || kind == 'S'; }
};

enum class NpyTexts : uint8_t { kRefuse, kAllow };

bool is_npy(std::string_view bytes);
// kInvalid when the bytes end inside it, kUnsupported for objects, complex numbers and dates.
Result<NpyHeader> read_npy_header(std::string_view bytes, NpyTexts texts = NpyTexts::kRefuse);

// How many values the shape says; kInvalid when the file is shorter than that.
Result<uint64_t> npy_count(const NpyHeader& header, std::string_view bytes);

// The value at `at`, of which header.width bytes are there.
double npy_number(const NpyHeader& header, const char* at);
std::string npy_text(const NpyHeader& header, const char* at);  // UTF-8, without padding

}  // namespace sonde::embed
