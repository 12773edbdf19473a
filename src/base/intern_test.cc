#include "base/intern.h"

#include <doctest/doctest.h>

#include <string>
#include <utility>

namespace sonde {
namespace {

TEST_CASE("StringTable: numbers follow the order of first mention, whatever the texts are") {
  StringTable table;
  const std::string long_text(100'000, 'x'), longer_text(1'000'000, 'y');
  const std::string_view texts[] = {"",    "a", std::string_view("a\0b", 3), long_text, longer_text,
                                    "a\n", "b"};
  for (int round = 0; round < 2; ++round) {
    for (uint32_t i = 0; i < std::size(texts); ++i) CHECK(table.id(texts[i]) == i);
  }
  CHECK(table.size() == std::size(texts));
  for (uint32_t i = 0; i < std::size(texts); ++i) {
    CHECK(table.text(i) == texts[i]);
    CHECK(table.find(texts[i]) == i);
  }
  CHECK(table.find("c") == UINT32_MAX);
  CHECK(StringTable().find("") == UINT32_MAX);
}

TEST_CASE("StringTable: views outlive growth and a move") {
  StringTable table;
  table.id("first");
  const std::string_view first = table.text(0);
  for (int i = 1; i < 200'000; ++i) table.id("name " + std::to_string(i));
  StringTable moved = std::move(table);
  CHECK(first == "first");
  CHECK(first.data() == moved.text(0).data());
  bool all = true;
  for (uint32_t i = 1; i < 200'000; ++i) {
    const std::string text = "name " + std::to_string(i);
    all = all && moved.text(i) == text && moved.find(text) == i;
  }
  CHECK(all);
  CHECK(moved.size() == 200'000);
  CHECK(moved.memory_bytes() < 200'000 * (11 + 4 + 16 + 22));
}

}  // namespace
}  // namespace sonde
