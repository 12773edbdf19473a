// Views of bytes and the unaligned little-endian loads every decoder needs. A view owns nothing:
// whoever hands one out says in a comment how long it stays valid.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace sonde {

static_assert(std::endian::native == std::endian::little,
              "all formats here are little-endian and read in place");

using Bytes = std::span<const std::byte>;

inline std::string_view as_text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

inline Bytes as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

// Reads a T at `at`; the caller has checked that it fits.
template <class T>
T load(Bytes bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

}  // namespace sonde
