#include "io/mapped_file.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <vector>

#include "io/inflate.h"

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

TEST_CASE("MappedFile: a file that is cut while it is mapped reads as zeros, and says so") {
  const std::string text(8 * 4096, 'x');
  const Scratch scratch(text);
  const auto content = io::read_content(scratch.path);
  REQUIRE(content);
  CHECK(content->check_whole(scratch.path));
  REQUIRE(::truncate(scratch.path.c_str(), 4096) == 0);
  content->pass(content->bytes());
  const std::string_view now = as_text(content->bytes());
  CHECK(now.substr(0, 4096) == text.substr(0, 4096));
  CHECK(now.substr(4096).find_first_not_of('\0') == std::string_view::npos);
  const auto whole = content->check_whole(scratch.path);
  REQUIRE(!whole);
  CHECK(whole.error().text.find("was cut while it was read") != std::string::npos);
  SUBCASE("and another file is not blamed") {
    const Scratch other("good");
    const auto good = io::read_content(other.path);
    CHECK(as_text(good->bytes()) == "good");
    CHECK(good->check_whole(other.path));
  }
}

TEST_CASE("MappedFile: what is no regular file is refused at once") {
  Scratch scratch("");
  ::unlink(scratch.path.c_str());
  REQUIRE(::mkfifo(scratch.path.c_str(), 0600) == 0);
  for (const std::string& path : {scratch.path, std::string("/dev/zero"), std::string("/tmp")})
    CHECK(!io::read_content(path));
}

TEST_CASE("gunzipped: stops at the ratio and at the size, one byte below both is read") {
  const auto packed = [](size_t size) {
    std::string out(size / 500 + 1000, '\0');
    z_stream stream{};
    deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
    const std::string zeros(1 << 20, '\0');
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    for (size_t done = 0; done < size; done += stream.avail_in == 0 ? zeros.size() : 0) {
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(zeros.data()));
      stream.avail_in = static_cast<uInt>(std::min(zeros.size(), size - done));
      deflate(&stream, Z_NO_FLUSH);
    }
    deflate(&stream, Z_FINISH);
    out.resize(stream.total_out);
    deflateEnd(&stream);
    return out;
  };
  std::string damage;
  const size_t limit = io::kMinBombBytes;
  for (const size_t size : {limit - 1, limit}) {
    const auto good = io::gunzipped(as_bytes(packed(size)), uint64_t{1} << 30, &damage);
    REQUIRE(good);
    CHECK(good->size() == size);
    CHECK(damage.empty());
  }
  const auto bomb = io::gunzipped(as_bytes(packed(limit + 1)), uint64_t{1} << 30, &damage);
  REQUIRE(!bomb);
  CHECK(bomb.error().code == Code::kTooLarge);
  CHECK(bomb.error().text.find("250 times") != std::string::npos);
  for (const size_t size : {size_t{99'999}, size_t{100'000}})
    CHECK(io::gunzipped(as_bytes(packed(size)), 100'000, &damage));
  CHECK(!io::gunzipped(as_bytes(packed(100'001)), 100'000, &damage));
}

TEST_CASE("FaultGuard: 4096 ranges at a time, the next one is told that there is no place") {
  const char content[16] = {};
  std::vector<io::FaultGuard> guards;
  guards.reserve(io::FaultGuard::kMaxGuarded + 1);
  bool is_full = false;
  while (!is_full && guards.size() <= size_t{io::FaultGuard::kMaxGuarded}) {
    is_full = !guards.emplace_back().guard(content, sizeof content);
  }
  CHECK(is_full);  // others may hold some meanwhile
  const Scratch scratch("text");
  const auto refused = io::MappedFile::open(scratch.path);
  REQUIRE(!refused);
  CHECK(refused.error().text.find("too many files are open at once") != std::string::npos);
  guards.clear();
  CHECK(io::MappedFile::open(scratch.path));
}
