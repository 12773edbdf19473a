// The parts every summary is made of: one Summary.Value with its tensor and its metadata, in the
// field order TensorFlow writes. Knows the messages, not what they are for.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "codec/wire.h"
#include "sonde/summary.h"

namespace sonde::writer {

inline constexpr int kDtString = 7;

size_t element_size(DataType type);
// Element i as double; half and bfloat16 widened.
double element(const Array& array, size_t i);
// All elements as doubles / floats.
std::vector<double> as_doubles(const Array& array);

// "[2, 3]" for messages to people.
std::string shape_text(std::span<const int64_t> shape);

void put_shape(wire::Encoder& tensor, std::span<const int64_t> shape);

// Value fields 8 (tensor) in its two usual forms.
void put_tensor(wire::Encoder& value, const Array& data);
void put_strings(wire::Encoder& value, std::span<const std::string> cells,
                 std::span<const int64_t> shape);
// Value field 9. Empty parts are left out; a plugin without a name leaves out plugin_data.
void put_metadata(wire::Encoder& value, const Plugin& plugin, const About& about);

// Appends Summary.value{tag, fields written by fn(wire::Encoder&)}.
template <class Fn>
void add_value(std::string& summary, std::string_view tag, Fn&& fn) {
  wire::Encoder(summary).message(1, [&](wire::Encoder& value) {
    value.bytes(1, tag);
    fn(value);
  });
}

template <class Fn>
Summary one_value(std::string_view tag, Fn&& fn) {
  Summary made;
  add_value(made.bytes, tag, fn);
  return made;
}

inline Summary refused(std::string_view tag, std::string_view why) {
  return {{}, "tag '" + std::string(tag) + "': " + std::string(why)};
}

}  // namespace sonde::writer
