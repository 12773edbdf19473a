#include "log/query/lines/line_file.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace sonde::query {
namespace {

struct Temporary {
  Temporary() {
    char name[] = "/tmp/sonde_lines_XXXXXX";
    folder = ::mkdtemp(name);
  }
  ~Temporary() { std::filesystem::remove_all(folder); }
  std::string path() const { return folder + "/a.jsonl"; }
  void append(std::string_view text) const {
    std::ofstream(path(), std::ios::app | std::ios::binary) << text;
  }
  std::string folder;
};

}  // namespace

TEST_CASE("lines: an index grows with the file, half a line does not count") {
  const Temporary files;
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "line " + std::to_string(i) + "\n";
  files.append(text + "half");
  auto index = index_lines(files.path(), nullptr, nullptr);
  REQUIRE(index);
  CHECK(index->lines == 1000);
  CHECK(index->bytes == text.size());
  files.append(" done\nnext\n");
  auto grown = index_lines(files.path(), &*index, nullptr);
  REQUIRE(grown);
  CHECK(grown->lines == 1002);
  std::vector<std::string> seen;
  REQUIRE(read_lines(files.path(), *grown, 998, [&](uint64_t number, std::string_view line) {
    CHECK(number == 998 + seen.size());
    seen.emplace_back(line);
    return true;
  }));
  CHECK(seen == std::vector<std::string>{"line 998", "line 999", "half done", "next"});
}

TEST_CASE("lines: a line over windows and over the limit, empty and replaced files") {
  const Temporary files;
  const std::string long_line((3 << 20) + 17, 'x'), huge_line(kMaxLineBytes + 100, 'y');
  files.append(long_line + "\n" + huge_line + "\nz\n");
  auto index = index_lines(files.path(), nullptr, nullptr);
  REQUIRE(index);
  CHECK(index->lines == 3);
  std::vector<size_t> sizes;
  REQUIRE(read_lines(files.path(), *index, 0, [&](uint64_t, std::string_view line) {
    sizes.push_back(line.size());
    return true;
  }));
  CHECK(sizes == std::vector<size_t>{long_line.size(), kMaxLineBytes, 1});
  std::filesystem::remove(files.path());
  files.append("");
  auto empty = index_lines(files.path(), &*index, nullptr);
  REQUIRE(empty);
  CHECK(empty->lines == 0);
  CHECK(!index_lines(files.folder + "/none", nullptr, nullptr));
}

TEST_CASE("lines: steps of lines") {
  const Temporary files;
  files.append("5\n7\n");
  const auto step_of = [](std::string_view line) { return static_cast<int64_t>(line[0] - '0'); };
  auto index = index_lines(files.path(), nullptr, step_of);
  REQUIRE(index);
  files.append("9\n");
  auto grown = index_lines(files.path(), &*index, step_of);
  REQUIRE(grown);
  CHECK(grown->steps == std::vector<int64_t>{5, 7, 9});
}

}  // namespace sonde::query
