// A pickle read as plain data: numbers, text, lists, tuples and dictionaries. Nothing of it is ever
// called: an opcode that would name a function or build an object is an error that says where it
// stands. Time and memory are linear in the bytes; text stays a view into them.
//
//   SONDE_TRY(pickle, Pickle::read(bytes));
//   for (const Pickle::Value& entry : pickle.items(pickle.at(pickle.root(), "segments"))) …
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace sonde {

class Pickle {
 public:
  enum class Kind : uint8_t { kNone, kBool, kInt, kDouble, kText, kList, kDict };

  // 16 bytes. A text is a place in the bytes, a list or dictionary the number of its members.
  struct Value {
    Kind kind = Kind::kNone;
    uint32_t size = 0;  // of a text
    uint64_t bits = 0;

    bool is_number() const {
      return kind == Kind::kInt || kind == Kind::kBool || kind == Kind::kDouble;
    }
  };

  // `bytes` must outlive the result.
  static Result<Pickle> read(Bytes bytes);

  const Value& root() const { return root_; }
  // Members of a list or a tuple; nothing for any other value.
  std::span<const Value> items(const Value& value) const;
  // Keys and values of a dictionary in turn.
  std::span<const Value> pairs(const Value& value) const;
  // What a dictionary has under a key; None when it has not.
  const Value& at(const Value& dict, std::string_view key) const;
  std::string_view text(const Value& value) const;  // empty for what is no text
  int64_t integer(const Value& value, int64_t otherwise = 0) const;
  // A number that tells one list from another, for what is computed once for each.
  static uint64_t identity(const Value& value) { return value.bits; }

 private:
  friend class PickleReader;
  Bytes bytes_;
  Value root_;
  std::vector<std::vector<Value>> members_;
};

}  // namespace sonde
