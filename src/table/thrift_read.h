// Thrift's compact protocol, read in place, as far as Parquet's headers need it. Every length is
// checked against the bytes that are there; after the first one that is wrong ok() stays false and
// every further value is empty.
#pragma once

#include <cstdint>
#include <string_view>

namespace sonde::table {

class ThriftReader {
 public:
  enum Type : uint8_t {
    kTrue = 1,
    kFalse = 2,
    kByte = 3,
    kInt16 = 4,
    kInt32 = 5,
    kInt64 = 6,
    kDouble = 7,
    kText = 8,
    kList = 9,
    kSet = 10,
    kStruct = 12,
  };

  explicit ThriftReader(std::string_view bytes) : bytes_(bytes) {}

  bool ok() const { return ok_; }
  size_t position() const { return at_; }

  // Calls fn(id, type) for each member of the struct that begins here; what fn does not read is
  // skipped.
  template <class Fn>
  void members(Fn&& fn) {
    for (int id = 0; ok_;) {
      const uint8_t head = byte();
      if (!ok_ || head == 0) return;
      const auto type = static_cast<Type>(head & 15);
      id = head >> 4 ? id + (head >> 4) : static_cast<int>(zigzag());
      const size_t before = at_;
      fn(id, type);
      if (at_ == before) skip(type, 0);
    }
  }
  // Calls fn() for each item of the list that begins here.
  template <class Fn>
  void items(Fn&& fn) {
    const uint8_t head = byte();
    const uint64_t count = head >> 4 == 15 ? varint() : head >> 4;
    // An item takes a byte at least: a longer list is a lie.
    if (count > bytes_.size() - at_) ok_ = false;
    for (uint64_t i = 0; i < count && ok_; ++i) fn();
  }
  int64_t number() { return zigzag(); }
  std::string_view text() {
    const uint64_t size = varint();
    if (size > bytes_.size() - at_) return fail_empty();
    at_ += size;
    return bytes_.substr(at_ - size, size);
  }

 private:
  static constexpr int kDeepest = 32;

  std::string_view fail_empty() {
    ok_ = false;
    return {};
  }
  uint8_t byte() {
    if (at_ < bytes_.size()) return static_cast<uint8_t>(bytes_[at_++]);
    ok_ = false;
    return 0;
  }
  uint64_t varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const uint64_t b = byte();
      value |= (b & 127) << shift;
      if (b < 128) return value;
    }
    ok_ = false;
    return 0;
  }
  int64_t zigzag() {
    const uint64_t value = varint();
    return static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1);
  }
  void skip(Type type, int depth) {
    if (depth > kDeepest) ok_ = false;
    if (!ok_) return;
    switch (type) {
      case kTrue:
      case kFalse:
        return;
      case kDouble:
        at_ = at_ + 8 <= bytes_.size() ? at_ + 8 : (ok_ = false, at_);
        return;
      case kText:
        (void)text();
        return;
      case kList:
      case kSet: {  // written like a list
        const uint8_t head = byte();
        const uint64_t count = head >> 4 == 15 ? varint() : head >> 4;
        const auto inner = static_cast<Type>(head & 15);
        if (count > bytes_.size() - at_) ok_ = false;
        // A boolean inside a list takes a byte.
        for (uint64_t i = 0; i < count && ok_; ++i)
          inner == kTrue || inner == kFalse ? void(byte()) : skip(inner, depth + 1);
        return;
      }
      case kStruct:
        for (;;) {
          const uint8_t head = byte();
          if (!ok_ || head == 0) return;
          if (head >> 4 == 0) zigzag();
          skip(static_cast<Type>(head & 15), depth + 1);
        }
      case kByte:
        (void)byte();
        return;
      case kInt16:
      case kInt32:
      case kInt64:
        zigzag();
        return;
      default:
        ok_ = false;
    }
  }

  std::string_view bytes_;
  size_t at_ = 0;
  bool ok_ = true;
};

}  // namespace sonde::table
