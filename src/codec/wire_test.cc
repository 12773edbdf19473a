#include "codec/wire.h"

#include <doctest/doctest.h>

using namespace sonde;

namespace {
std::string bytes_of(std::initializer_list<int> list) {
  std::string s;
  for (int b : list) s.push_back(static_cast<char>(b));
  return s;
}

struct Walk {
  int fields = 0;
  bool ok = false;
};

Walk walk(const std::string& message) {
  Walk result;
  wire::Cursor cursor(as_bytes(message));
  for (wire::Field f; cursor.next(f);) ++result.fields;
  result.ok = cursor.ok();
  return result;
}
}  // namespace

TEST_CASE("wire: what the encoder writes the cursor reads") {
  std::string out;
  wire::Encoder e(out);
  e.varint(1, static_cast<uint64_t>(int64_t{-1}));
  e.real(2, 0.5);
  e.real32(3, -2.5f);
  e.message(4, [](wire::Encoder& m) { m.bytes(1, "tag"); });

  wire::Cursor cursor(as_bytes(out));
  wire::Field f;
  REQUIRE(cursor.next(f));
  CHECK(f.as_int() == -1);
  REQUIRE(cursor.next(f));
  CHECK(f.as_double() == 0.5);
  REQUIRE(cursor.next(f));
  CHECK(f.as_float() == -2.5f);
  REQUIRE(cursor.next(f));
  wire::Cursor inner(f.bytes);
  REQUIRE(inner.next(f));
  CHECK(f.text() == "tag");
  CHECK_FALSE(cursor.next(f));
  CHECK(cursor.ok());
}

TEST_CASE("wire: malformed messages end the walk and say so") {
  const struct {
    const char* promise;
    std::string message;
    Walk expected;
  } cases[] = {
      {"an empty message is fine", "", {0, true}},
      {"field number zero is refused", bytes_of({0x00, 0x01}), {0, false}},
      {"a varint cut off is refused", bytes_of({0x08, 0x80}), {0, false}},
      {"a varint of eleven bytes is refused",
       bytes_of({8, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1}),
       {0, false}},
      {"a length beyond the parent is refused", bytes_of({0x0a, 0x05, 'a'}), {0, false}},
      {"a length of 2^63 is refused",
       bytes_of({0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}),
       {0, false}},
      {"a group is skipped whole", bytes_of({0x0b, 0x10, 0x01, 0x0c, 0x18, 0x02}), {1, true}},
      {"a group that never ends is refused", bytes_of({0x0b, 0x10, 0x01}), {0, false}},
      {"a group closed by another number is refused", bytes_of({0x0b, 0x14}), {0, false}},
  };
  for (const auto& c : cases) {
    CAPTURE(c.promise);
    const Walk got = walk(c.message);
    CHECK(got.fields == c.expected.fields);
    CHECK(got.ok == c.expected.ok);
  }
}

TEST_CASE("wire: groups nest 100 deep, deeper ones end the message") {
  for (const int depth : {99, 100, 101, 100'000}) {
    CAPTURE(depth);
    std::string message(static_cast<size_t>(depth), '\x0b');  // field 1 opens a group
    message.append(static_cast<size_t>(depth), '\x0c');       // and closes it
    CHECK(walk(message).ok == (depth <= 100));
  }
}
