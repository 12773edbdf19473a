// The binary form of columns (docs/api.md §3): "SND1", the size of a JSON head, the head, then
// typed arrays, each padded to 8 bytes, so that a reader makes views of them without a copy.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "codec/json.h"

namespace sonde::query {

enum class ColumnType : uint8_t { kU8, kU16, kU32, kI64, kF32, kF64 };

template <class T>
constexpr ColumnType column_type();
template <>
constexpr ColumnType column_type<uint8_t>() {
  return ColumnType::kU8;
}
template <>
constexpr ColumnType column_type<uint16_t>() {
  return ColumnType::kU16;
}
template <>
constexpr ColumnType column_type<uint32_t>() {
  return ColumnType::kU32;
}
template <>
constexpr ColumnType column_type<int64_t>() {
  return ColumnType::kI64;
}
template <>
constexpr ColumnType column_type<float>() {
  return ColumnType::kF32;
}
template <>
constexpr ColumnType column_type<double>() {
  return ColumnType::kF64;
}

struct Column {
  std::string name;
  ColumnType type = ColumnType::kF64;
  std::string bytes;

  size_t size() const;  // elements

  template <class T>
  static Column of(std::string name, const std::vector<T>& values) {
    return {std::move(name), column_type<T>(),
            std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T))};
  }
  // Room for `count` elements, to be filled through data<T>().
  template <class T>
  static Column room(std::string name, size_t count) {
    return {std::move(name), column_type<T>(), std::string(count * sizeof(T), '\0')};
  }
  template <class T>
  T* data() {
    return reinterpret_cast<T*>(bytes.data());
  }
};

// The whole file. `head` writes the members of the head except "cols".
std::string column_file(const std::vector<Column>& columns,
                        const std::function<void(JsonWriter&)>& head);

inline constexpr std::string_view kColumnsMime = "application/vnd.sonde.columns";

}  // namespace sonde::query
