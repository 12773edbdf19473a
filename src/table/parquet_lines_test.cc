#include "table/parquet_lines.h"

#include <doctest/doctest.h>

#include <fstream>
#include <sstream>

#include "codec/json_read.h"
#include "tests/support/paths.h"

using namespace sonde;

namespace {

std::string content_of(const std::string& path) {
  std::ifstream in(sonde::testing::source_path(path), std::ios::binary);
  std::stringstream all;
  all << in.rdbuf();
  return all.str();
}

// Every line that was made is JSON; an error is as good.
bool is_sound(const std::string& file) {
  const auto lines = table::parquet_lines(as_bytes(file), 1 << 20);
  if (!lines) return true;
  for (size_t at = 0; at < lines->size();) {
    const size_t end = lines->find('\n', at);
    if (!read_json(std::string_view(*lines).substr(at, end - at))) return false;
    at = end + 1;
  }
  return true;
}

}  // namespace

TEST_CASE("parquet lines: a level beyond what its column has is damage") {
  const auto lines = table::parquet_lines(
      as_bytes(content_of("tests/data/damaged/levels_beyond.parquet")), 1 << 20);
  REQUIRE(!lines);
  CHECK(lines.error().code == Code::kCorrupt);
}

TEST_CASE("parquet lines: any byte of a nested file may be wrong") {
  std::string file = content_of("tests/data/trackers/trl_chat/completions_00002.parquet");
  REQUIRE(table::parquet_lines(as_bytes(file), 1 << 20));
  size_t unsound = 0;
  for (char& byte : file) {
    const char right = byte;
    for (const int wrong : {0x00, 0xff, right ^ 1, right ^ 0x40}) {
      byte = static_cast<char>(wrong);
      unsound += !is_sound(file);
    }
    byte = right;
  }
  CHECK(unsound == 0);
}
