#include "io/mapped_file.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

using namespace sonde;

namespace {

// A file that is gone with the test.
struct Scratch {
  std::string path = "/tmp/sonde_mapped_XXXXXX";
  explicit Scratch(std::string_view content) {
    ::close(::mkstemp(path.data()));
    std::ofstream(path, std::ios::binary) << content;
  }
  ~Scratch() { ::unlink(path.c_str()); }
};

}  // namespace

TEST_CASE("MappedFile: parts that were let go of can be read again, others are left alone") {
  std::string text(5 * 4096 + 17, '\0');
  for (size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * 7 % 251);
  const Scratch scratch(text);
  const auto content = io::read_content(scratch.path);
  REQUIRE(content);
  const Bytes bytes = content->bytes();
  for (const auto& [from, size] :
       {std::pair<size_t, size_t>{0, text.size()}, {1, 3}, {1, 9000}, {4096, 4096}, {20000, 497}}) {
    content->pass(bytes.subspan(from, size));
    CHECK(as_text(bytes) == text);
  }
  const std::string other(8192, 'x');
  content->pass(as_bytes(other));  // not of this file
  CHECK(other.find_first_not_of('x') == std::string::npos);
}

TEST_CASE("Content: what was unpacked cannot be read again and stays") {
  io::Content content;
  content.unpacked.assign(10000, 'y');
  content.is_unpacked = true;
  content.pass(content.bytes());
  CHECK(as_text(content.bytes()) == std::string(10000, 'y'));
}
