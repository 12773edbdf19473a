// Thrift's compact protocol, as far as Parquet's headers need it: fields in ascending order.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace sonde::table {

class Thrift {
 public:
  explicit Thrift(std::string& out) : out_(out) {}

  void i32(int id, int64_t value) { number(id, 5, value); }
  void i64(int id, int64_t value) { number(id, 6, value); }
  void text(int id, std::string_view value) {
    field(id, 8);
    raw_text(value);
  }
  // fn(Thrift&) writes the members.
  template <class Fn>
  void object(int id, Fn&& fn) {
    field(id, 12);
    inside(fn);
  }
  template <class Fn>
  void objects(int id, size_t count, Fn&& fn) {  // fn(Thrift&, index)
    field(id, 9);
    list(count, 12);
    for (size_t i = 0; i < count; ++i) inside([&](Thrift& member) { fn(member, i); });
  }
  template <class Numbers>
  void numbers(int id, const Numbers& values) {
    field(id, 9);
    list(values.size(), 5);
    for (const auto value : values) varint(zigzag(value));
  }
  void texts(int id, std::initializer_list<std::string_view> values) {
    field(id, 9);
    list(values.size(), 8);
    for (const std::string_view value : values) raw_text(value);
  }
  void end() { out_.push_back('\0'); }

 private:
  static uint64_t zigzag(int64_t value) {
    return static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63);
  }
  void number(int id, int type, int64_t value) {
    field(id, type);
    varint(zigzag(value));
  }
  void field(int id, int type) {
    const int step = id - last_;
    if (step > 0 && step < 16) {
      out_.push_back(static_cast<char>(step << 4 | type));
    } else {
      out_.push_back(static_cast<char>(type));
      varint(zigzag(id));
    }
    last_ = id;
  }
  void list(size_t count, int type) {
    if (count < 15) {
      out_.push_back(static_cast<char>(count << 4 | static_cast<size_t>(type)));
    } else {
      out_.push_back(static_cast<char>(0xf0 | type));
      varint(count);
    }
  }
  template <class Fn>
  void inside(Fn&& fn) {
    Thrift member(out_);
    fn(member);
    member.end();
  }
  void raw_text(std::string_view value) {
    varint(value.size());
    out_.append(value);
  }
  void varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) out_.push_back(static_cast<char>(value | 0x80));
    out_.push_back(static_cast<char>(value));
  }

  std::string& out_;
  int last_ = 0;
};

}  // namespace sonde::table
