// The protobuf wire format, walked in place: a Cursor yields one field after another without
// copying or allocating, an Encoder appends fields to a string. Every format of this program that
// is made of protobuf messages is read and written with these two; there are no generated classes.
//
//   wire::Cursor cursor(payload);
//   for (wire::Field f; cursor.next(f);) switch (f.number) { case 1: time = f.as_double(); break;
//   ... } if (!cursor.ok()) return fail(Code::kCorrupt, "...");
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"

namespace sonde::wire {

enum class Type : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

// Decodes a varint at p; returns the byte after it, or nullptr when it is cut off or over 10 bytes.
inline const std::byte* read_varint(const std::byte* p, const std::byte* end, uint64_t& value) {
  uint64_t result = 0;
  for (int shift = 0; shift < 70 && p < end; shift += 7) {
    const auto b = static_cast<uint64_t>(*p++);
    result |= (b & 0x7f) << shift;
    if (b < 0x80) {
      value = result;
      return p;
    }
  }
  return nullptr;
}

struct Field {
  uint32_t number = 0;
  Type type = Type::kVarint;
  uint64_t bits = 0;  // varint, fixed64 or fixed32 as read
  Bytes bytes;        // payload of a length-delimited field; points into the message

  bool is_bytes() const { return type == Type::kBytes; }
  int64_t as_int() const { return static_cast<int64_t>(bits); }
  uint64_t as_uint() const { return bits; }
  bool as_bool() const { return bits != 0; }
  double as_double() const { return std::bit_cast<double>(bits); }
  float as_float() const { return std::bit_cast<float>(static_cast<uint32_t>(bits)); }
  std::string_view text() const { return as_text(bytes); }
};

class Cursor {
 public:
  explicit Cursor(Bytes message) : p_(message.data()), end_(message.data() + message.size()) {}

  // False at the end of the message and at the first malformed byte; ok() tells them apart.
  bool next(Field& field) {
    while (p_ < end_) {
      uint64_t key;
      if (!(p_ = read_varint(p_, end_, key)) || (key >> 3) == 0 || (key >> 3) > 0x1fffffff)
        return broken();
      field.number = static_cast<uint32_t>(key >> 3);
      switch (key & 7) {
        case 0:
          field.type = Type::kVarint;
          if (!(p_ = read_varint(p_, end_, field.bits))) return broken();
          return true;
        case 1:
          if (end_ - p_ < 8) return broken();
          field.type = Type::kFixed64;
          std::memcpy(&field.bits, p_, 8);
          p_ += 8;
          return true;
        case 2: {
          uint64_t length;
          if (!(p_ = read_varint(p_, end_, length)) || length > static_cast<uint64_t>(end_ - p_))
            return broken();
          field.type = Type::kBytes;
          field.bytes = {p_, static_cast<size_t>(length)};
          p_ += length;
          return true;
        }
        case 5: {
          if (end_ - p_ < 4) return broken();
          field.type = Type::kFixed32;
          uint32_t word;
          std::memcpy(&word, p_, 4);
          field.bits = word;
          p_ += 4;
          return true;
        }
        case 3:  // an obsolete group: skipped whole
          if (!skip_group(field.number)) return broken();
          continue;
        default:
          return broken();
      }
    }
    return false;
  }

  bool ok() const { return ok_; }
  // Where the next field starts; the end of the message once next() has returned false.
  const std::byte* position() const { return p_; }

 private:
  bool broken() {
    ok_ = false;
    p_ = end_;
    return false;
  }
  bool skip_group(uint32_t number);

  const std::byte* p_;
  const std::byte* end_;
  bool ok_ = true;
};

// Calls fn(uint64_t) for each element of a repeated varint field, packed or not. False when
// malformed.
template <class Fn>
bool for_each_varint(const Field& field, Fn&& fn) {
  if (!field.is_bytes()) {
    fn(field.bits);
    return true;
  }
  const std::byte* p = field.bytes.data();
  const std::byte* end = p + field.bytes.size();
  while (p < end) {
    uint64_t value;
    if (!(p = read_varint(p, end, value))) return false;
    fn(value);
  }
  return true;
}

// The same for repeated fixed-width fields (T = float, double, uint32_t, uint64_t).
template <class T, class Fn>
bool for_each_fixed(const Field& field, Fn&& fn) {
  if (!field.is_bytes()) {
    if constexpr (sizeof(T) == 8) {
      fn(std::bit_cast<T>(field.bits));
    } else {
      fn(std::bit_cast<T>(static_cast<uint32_t>(field.bits)));
    }
    return true;
  }
  if (field.bytes.size() % sizeof(T) != 0) return false;
  for (size_t at = 0; at < field.bytes.size(); at += sizeof(T)) fn(load<T>(field.bytes, at));
  return true;
}

// Appends fields to a string. Default values are written like any other: the caller decides.
class Encoder {
 public:
  explicit Encoder(std::string& out) : out_(out) {}

  void varint(uint32_t number, uint64_t value) {
    key(number, 0);
    raw_varint(value);
  }
  void fixed64(uint32_t number, uint64_t value) {
    key(number, 1);
    raw(&value, 8);
  }
  void fixed32(uint32_t number, uint32_t value) {
    key(number, 5);
    raw(&value, 4);
  }
  void real(uint32_t number, double value) { fixed64(number, std::bit_cast<uint64_t>(value)); }
  void real32(uint32_t number, float value) { fixed32(number, std::bit_cast<uint32_t>(value)); }
  void bytes(uint32_t number, std::string_view value) {
    key(number, 2);
    raw_varint(value.size());
    out_.append(value);
  }
  // A sub-message: fn(Encoder&) writes its fields.
  template <class Fn>
  void message(uint32_t number, Fn&& fn) {
    std::string inner;
    Encoder encoder(inner);
    fn(encoder);
    bytes(number, inner);
  }
  void raw_varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) out_.push_back(static_cast<char>(value | 0x80));
    out_.push_back(static_cast<char>(value));
  }

 private:
  void key(uint32_t number, uint32_t type) { raw_varint((uint64_t{number} << 3) | type); }
  void raw(const void* data, size_t size) { out_.append(static_cast<const char*>(data), size); }

  std::string& out_;
};

}  // namespace sonde::wire
