#include "codec/pickle.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace sonde {

using Kind = Pickle::Kind;
using Value = Pickle::Value;

// The machine that a pickle is written for, without the parts that call something.
class PickleReader {
 public:
  explicit PickleReader(Bytes bytes) : bytes_(bytes) { pickle_.bytes_ = bytes; }

  Result<Pickle> run() {
    while (error_.empty()) {
      if (at_ >= bytes_.size()) {
        refuse("the pickle ends before its STOP");
        break;
      }
      op_at_ = at_;
      const auto op = static_cast<uint8_t>(bytes_[at_++]);
      if (op == '.') {
        if (stack_.empty()) {
          refuse("the pickle holds no value");
          break;
        }
        pickle_.root_ = stack_.back();
        return std::move(pickle_);
      }
      step(op);
    }
    return fail(Code::kCorrupt, std::move(error_));
  }

 private:
  static constexpr size_t kMostMemo = size_t{1} << 28;

  void refuse(std::string_view what) { error_ = fmt::format("{} (byte {})", what, op_at_); }

  // The next `count` bytes; empty and refused when they are not there.
  Bytes take(uint64_t count) {
    if (count > bytes_.size() - at_) {
      refuse("the pickle is cut off");
      return {};
    }
    const Bytes part = bytes_.subspan(at_, count);
    at_ += count;
    return part;
  }
  template <class T>
  T number() {
    const Bytes part = take(sizeof(T));
    return part.size() == sizeof(T) ? load<T>(part, 0) : T{};
  }

  void push(Value value) { stack_.push_back(value); }
  void push_int(int64_t value) { push({Kind::kInt, 0, static_cast<uint64_t>(value)}); }
  void push_text(uint64_t size) {
    const uint64_t from = at_;
    const Bytes part = take(size);
    if (part.size() != size) return;
    if (size > std::numeric_limits<uint32_t>::max()) return refuse("a text of over 4 GB");
    push({Kind::kText, static_cast<uint32_t>(size), from});
  }
  void push_new(Kind kind, std::vector<Value> members = {}) {
    push({kind, 0, pickle_.members_.size()});
    pickle_.members_.push_back(std::move(members));
  }
  // A whole number of `size` bytes, least first; one beyond 64 bits becomes the nearest end.
  void push_long(uint64_t size) {
    const Bytes part = take(size);
    if (part.size() != size) return;
    if (size == 0) return push_int(0);
    const bool is_negative = (static_cast<uint8_t>(part.back()) & 0x80) != 0;
    uint64_t bits = is_negative ? ~uint64_t{0} : 0;
    bool fits = true;
    for (uint64_t i = 0; i < size; ++i) {
      const auto byte = static_cast<uint8_t>(part[i]);
      if (i < 8) {
        bits = (bits & ~(uint64_t{0xff} << (8 * i))) | uint64_t{byte} << (8 * i);
      } else {
        fits = fits && byte == (is_negative ? 0xff : 0);
      }
    }
    // An address above 2^63 is written with a ninth byte of zero: kept as its bits.
    if (fits) return push_int(static_cast<int64_t>(bits));
    push_int(is_negative ? std::numeric_limits<int64_t>::min()
                         : std::numeric_limits<int64_t>::max());
  }

  Value pop() {
    if (stack_.size() <= floor()) {
      refuse("the pickle takes more than it holds");
      return {};
    }
    const Value value = stack_.back();
    stack_.pop_back();
    return value;
  }
  size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }
  std::vector<Value> pop_to_mark() {
    if (marks_.empty()) {
      refuse("the pickle has no mark to go back to");
      return {};
    }
    const auto from = stack_.begin() + static_cast<ptrdiff_t>(marks_.back());
    std::vector<Value> values(from, stack_.end());
    stack_.erase(from, stack_.end());
    marks_.pop_back();
    return values;
  }
  void tuple_of(size_t count) {
    std::vector<Value> values(count);
    for (size_t i = count; i > 0; --i) values[i - 1] = pop();
    push_new(Kind::kList, std::move(values));
  }
  void add_to_top(Kind kind, const std::vector<Value>& values) {
    if (!error_.empty()) return;
    if (stack_.size() <= floor() || stack_.back().kind != kind)
      return refuse("the pickle adds to what is no list or dictionary");
    if (kind == Kind::kDict && values.size() % 2 != 0)
      return refuse("a key of the pickle has no value");
    auto& members = pickle_.members_[stack_.back().bits];
    members.insert(members.end(), values.begin(), values.end());
  }
  void remember(uint64_t place) {
    if (stack_.size() <= floor()) return refuse("the pickle remembers nothing");
    // Writers count up by one; a place far beyond what was remembered is an attack on memory.
    if (place > memo_.size() + 1024 || place > kMostMemo)
      return refuse("the pickle remembers at an odd place");
    if (place >= memo_.size()) memo_.resize(place + 1);
    memo_[place] = stack_.back();
  }
  void recall(uint64_t place) {
    if (place >= memo_.size()) return refuse("the pickle recalls what it never remembered");
    push(memo_[place]);
  }

  void step(uint8_t op) {
    switch (op) {
      case 0x80:  // PROTO
        if (const auto version = number<uint8_t>(); error_.empty() && version > 5)
          refuse("a pickle of a version above 5");
        return;
      case 0x95:  // FRAME: how long the next stretch is; it stands in the bytes all the same
        take(8);
        return;
      case 'N':
        return push({});
      case 0x88:
      case 0x89:
        return push({Kind::kBool, 0, op == 0x88 ? 1u : 0u});
      case 'K':
        return push_int(number<uint8_t>());
      case 'M':
        return push_int(number<uint16_t>());
      case 'J':
        return push_int(number<int32_t>());
      case 0x8a:
        return push_long(number<uint8_t>());
      case 0x8b: {
        const auto size = number<int32_t>();
        if (size < 0) return refuse("a number of negative length");
        return push_long(static_cast<uint64_t>(size));
      }
      case 'G': {  // the only number that is written with its first byte first
        uint64_t bits = 0;
        for (const std::byte b : take(8)) bits = bits << 8 | static_cast<uint8_t>(b);
        return push({Kind::kDouble, 0, bits});
      }
      case 0x8c:  // short text and bytes
      case 'C':
      case 'U':
        return push_text(number<uint8_t>());
      case 'X':
      case 'B':
      case 'T':
        return push_text(number<uint32_t>());
      case 0x8d:
      case 0x8e:
      case 0x96:
        return push_text(number<uint64_t>());
      case ']':
      case ')':
        return push_new(Kind::kList);
      case '}':
        return push_new(Kind::kDict);
      case '(':
        marks_.push_back(stack_.size());
        return;
      case 'l':
      case 't':
        return push_new(Kind::kList, pop_to_mark());
      case 'd': {
        std::vector<Value> values = pop_to_mark();
        if (values.size() % 2 != 0) return refuse("a key of the pickle has no value");
        return push_new(Kind::kDict, std::move(values));
      }
      case 0x85:
      case 0x86:
      case 0x87:
        return tuple_of(size_t{op} - 0x84);
      case 'a': {
        const Value value = pop();
        return add_to_top(Kind::kList, {value});
      }
      case 'e': {
        const std::vector<Value> values = pop_to_mark();
        return add_to_top(Kind::kList, values);
      }
      case 's': {
        const Value value = pop(), key = pop();
        return add_to_top(Kind::kDict, {key, value});
      }
      case 'u': {
        const std::vector<Value> values = pop_to_mark();
        return add_to_top(Kind::kDict, values);
      }
      case '0':
        pop();
        return;
      case '1':
        pop_to_mark();
        return;
      case '2':
        if (stack_.size() <= floor()) return refuse("the pickle repeats nothing");
        return push(stack_.back());
      case 0x94:
        return remember(memo_.size());
      case 'q':
        return remember(number<uint8_t>());
      case 'r':
        return remember(number<uint32_t>());
      case 'h':
        return recall(number<uint8_t>());
      case 'j':
        return recall(number<uint32_t>());
      case 'c':
      case 0x93:
      case 'R':
      case 'i':
      case 'o':
      case 'b':
      case 0x81:
      case 0x92:
      case 0x82:
      case 0x83:
      case 0x84:
      case 'P':
      case 'Q':
        return refuse("the pickle calls code, which is never done; only plain data is read");
      default:
        return refuse(fmt::format("the pickle has an unknown instruction 0x{:02x}", op));
    }
  }

  Bytes bytes_;
  Pickle pickle_;
  size_t at_ = 0, op_at_ = 0;
  std::vector<Value> stack_, memo_;
  std::vector<size_t> marks_;
  std::string error_;
};

Result<Pickle> Pickle::read(Bytes bytes) { return PickleReader(bytes).run(); }

std::span<const Value> Pickle::items(const Value& value) const {
  if (value.kind != Kind::kList) return {};
  return members_[value.bits];
}

std::span<const Value> Pickle::pairs(const Value& value) const {
  if (value.kind != Kind::kDict) return {};
  return members_[value.bits];
}

const Value& Pickle::at(const Value& dict, std::string_view key) const {
  static const Value kMissing;
  const auto members = pairs(dict);
  // From behind: a key that was set twice has its last value.
  for (size_t i = members.size(); i >= 2; i -= 2) {
    if (text(members[i - 2]) == key && members[i - 2].kind == Kind::kText) return members[i - 1];
  }
  return kMissing;
}

std::string_view Pickle::text(const Value& value) const {
  return value.kind == Kind::kText ? as_text(bytes_.subspan(value.bits, value.size))
                                   : std::string_view();
}

int64_t Pickle::integer(const Value& value, int64_t otherwise) const {
  if (value.kind == Kind::kInt || value.kind == Kind::kBool)
    return static_cast<int64_t>(value.bits);
  if (value.kind != Kind::kDouble) return otherwise;
  const auto number = std::bit_cast<double>(value.bits);
  return std::abs(number) < 9e18 ? static_cast<int64_t>(number) : otherwise;
}

}  // namespace sonde
