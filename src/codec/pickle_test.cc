#include "codec/pickle.h"

#include <doctest/doctest.h>

#include <string>

namespace sonde {
namespace {

using namespace std::string_literals;

// {'a': [1, -2, 2**40, 1.5, None, True, 'x'], 'b': (1, 2)} by Python's pickle, protocol 4; the
// second list is the first one again.
const std::string kPlain =
    "\x80\x04}\x94(\x8c\x01"
    "a\x94]\x94(K\x01J\xfe\xff\xff\xff\x8a\x06\x00\x00\x00\x00\x00\x01"
    "G\x3f\xf8\x00\x00\x00\x00\x00\x00N\x88\x8c\x01x\x94"
    "e\x8c\x01"
    "b\x94K\x01K\x02\x86\x94"
    "\x8c\x01"
    "c\x94h\x02u."s;

std::string error_of(const std::string& text) {
  const auto read = Pickle::read(as_bytes(text));
  return read ? "" : read.error().text;
}

TEST_CASE("Pickle: plain data is read, what was remembered is the same list") {
  const auto pickle = Pickle::read(as_bytes(kPlain));
  REQUIRE_MESSAGE(pickle, error_of(kPlain));
  const auto& a = pickle->at(pickle->root(), "a");
  const auto items = pickle->items(a);
  REQUIRE(items.size() == 7);
  CHECK(pickle->integer(items[0]) == 1);
  CHECK(pickle->integer(items[1]) == -2);
  CHECK(pickle->integer(items[2]) == int64_t{1} << 40);
  CHECK(pickle->integer(items[3]) == 1);
  CHECK(items[4].kind == Pickle::Kind::kNone);
  CHECK(pickle->integer(items[5]) == 1);
  CHECK(pickle->text(items[6]) == "x");
  CHECK(pickle->items(pickle->at(pickle->root(), "b")).size() == 2);
  CHECK(Pickle::identity(pickle->at(pickle->root(), "c")) == Pickle::identity(a));
  CHECK(pickle->at(pickle->root(), "d").kind == Pickle::Kind::kNone);
}

TEST_CASE("Pickle: nothing is called, and the place is named") {
  // os.system("id") as an attacker writes it, in the old form and the new one.
  CHECK(error_of("\x80\x03"
                 "cos\nsystem\nX\x02\x00\x00\x00id\x85R."s) ==
        "the pickle calls code, which is never done; only plain data is read (byte 2)");
  CHECK(error_of("\x80\x04\x8c\x02os\x8c\x06system\x93."s).find("calls code") == 11);
}

TEST_CASE("Pickle: damage is an error, never more") {
  CHECK(error_of("") == "the pickle ends before its STOP (byte 0)");
  for (size_t size = 0; size < kPlain.size(); ++size)
    CHECK_FALSE(error_of(kPlain.substr(0, size)).empty());
  for (const std::string& text : {"\x80\x04."s,
                                  "\x80\x04"
                                  "a."s,
                                  "\x80\x04"
                                  "0."s,
                                  "\x80\x04u."s, "\x80\x04]s."s, "\x80\x04\x8b\xff\xff\xff\xff."s,
                                  "\x80\x04]r\xff\xff\xff\x7f."s, "\x80\x04h\x05."s, "\x80\x09N."s,
                                  "\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\xff."s,
                                  "\x80\x04}(K\x01u."s, "\x80\x04(a."s, "\x80\x04\xff."s})
    CHECK_FALSE(error_of(text).empty());
}

TEST_CASE("Pickle: a list in itself does no harm") {
  const auto pickle =
      Pickle::read(as_bytes("\x80\x04]\x94h\x00"
                            "a."s));
  REQUIRE(pickle);
  CHECK(pickle->items(pickle->items(pickle->root())[0]).size() == 1);
}

}  // namespace
}  // namespace sonde
