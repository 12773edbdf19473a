// The record of one scalar, encoded without allocation: sizes first, then bytes in place. A value
// is always the four-byte simple_value that every reader knows; when float32 had to round it, the
// double stands beside it in a field that other readers skip (TensorBoard shows the float, Sonde
// the double).
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace sonde::writer {

inline size_t varint_size(uint64_t value) {
  return static_cast<size_t>((std::bit_width(value | 1) + 6) / 7);
}

inline char* put_varint(char* at, uint64_t value) {
  for (; value >= 0x80; value >>= 7) *at++ = static_cast<char>(value | 0x80);
  *at++ = static_cast<char>(value);
  return at;
}

template <class T>
char* put_raw(char* at, T value) {
  std::memcpy(at, &value, sizeof value);
  return at + sizeof value;
}

inline bool fits_float(double value) {
  return static_cast<double>(static_cast<float>(value)) == value || std::isnan(value);
}

// Summary.Value{tag, simple_value, the exact double} without its own length prefix.
class ScalarValue {
 public:
  ScalarValue(std::string_view tag, double value)
      : tag_(tag),
        value_(value),
        exact_(fits_float(value)),
        size_(1 + varint_size(tag.size()) + tag.size() + (exact_ ? kSimple : kSimple + kExact)) {}

  size_t size() const { return size_; }
  char* write(char* at) const {
    *at++ = 0x0a;
    at = put_varint(at, tag_.size());
    std::memcpy(at, tag_.data(), tag_.size());
    at += tag_.size();
    *at++ = 0x15;
    at = put_raw(at, static_cast<float>(value_));
    if (exact_) return at;
    std::memcpy(at, "\xc1\x3e", 2);  // field 1000 (event::kExactValueField), eight bytes
    return put_raw(at + 2, value_);
  }

 private:
  static constexpr size_t kSimple = 5, kExact = 10;
  std::string_view tag_;
  double value_;
  bool exact_;
  size_t size_;
};

// Event{wall_time, step, summary{value}}.
class ScalarRecord {
 public:
  ScalarRecord(std::string_view tag, int64_t step, double value)
      : value_(tag, value),
        step_(static_cast<uint64_t>(step)),
        summary_(1 + varint_size(value_.size()) + value_.size()),
        size_(9 + (step_ != 0 ? 1 + varint_size(step_) : 0) + 1 + varint_size(summary_) +
              summary_) {}

  size_t size() const { return size_; }
  void write(char* at, double wall_time) const {
    *at++ = 0x09;
    at = put_raw(at, wall_time);
    if (step_ != 0) {
      *at++ = 0x10;
      at = put_varint(at, step_);
    }
    *at++ = 0x2a;
    at = put_varint(at, summary_);
    *at++ = 0x0a;
    at = put_varint(at, value_.size());
    value_.write(at);
  }

 private:
  ScalarValue value_;
  uint64_t step_;
  size_t summary_;
  size_t size_;
};

inline void add_scalar_value(std::string& summary, std::string_view tag, double value) {
  const ScalarValue one(tag, value);
  char head[11] = {0x0a};
  const char* end = put_varint(head + 1, one.size());
  summary.append(head, static_cast<size_t>(end - head));
  const size_t at = summary.size();
  summary.resize(at + one.size());
  one.write(summary.data() + at);
}

}  // namespace sonde::writer
