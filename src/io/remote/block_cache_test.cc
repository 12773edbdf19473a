#include "io/remote/block_cache.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/support/log_maker.h"

using namespace sonde;
namespace fs = std::filesystem;

namespace {

uint64_t bytes_below(const fs::path& folder) {
  uint64_t bytes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) bytes += entry.file_size();
  }
  return bytes;
}

}  // namespace

TEST_CASE("Block cache: a block is fetched once, then comes from memory, then from disk") {
  const test::Folder folder;
  const std::string place = folder.path().string();
  {
    io::BlockCache cache(place, 1 << 20, 1 << 20);
    CHECK(cache.get_or_begin("k") == nullptr);
    cache.put("k", "bytes");
    REQUIRE(cache.get_or_begin("k"));
    CHECK(*cache.get_or_begin("k") == "bytes");
    CHECK(!cache.begin("k"));
    CHECK(cache.counts().misses == 1);
    CHECK(cache.counts().memory_hits == 2);
  }
  io::BlockCache again(place, 1 << 20, 1 << 20);
  REQUIRE(again.get_or_begin("k"));
  CHECK(again.counts().disk_hits == 1);
}

TEST_CASE("Block cache: a damaged file is a block that is not there") {
  const test::Folder folder;
  {
    io::BlockCache cache(folder.path().string(), 1 << 20, 1 << 20);
    CHECK(cache.get_or_begin("k") == nullptr);
    cache.put("k", "bytes");
  }
  for (const auto& entry : fs::recursive_directory_iterator(folder.path())) {
    if (entry.is_regular_file()) std::ofstream(entry.path(), std::ios::in) << "X";
  }
  io::BlockCache again(folder.path().string(), 1 << 20, 1 << 20);
  CHECK(again.get_or_begin("k") == nullptr);
  again.put("k", "bytes");
  CHECK(*again.get_or_begin("k") == "bytes");
}

TEST_CASE("Block cache: memory and disk stay within their budgets") {
  const test::Folder folder;
  io::BlockCache cache(folder.path().string(), 10'000, 2'000);
  for (int i = 0; i < 100; ++i) {
    const std::string key = std::to_string(i);
    CHECK(cache.get_or_begin(key) == nullptr);
    cache.put(key, std::string(1000, 'x'));
    CHECK(bytes_below(folder.path()) <= 11'100);
  }
  CHECK(cache.get_or_begin("99"));
  CHECK(cache.get_or_begin("0") == nullptr);  // long gone
  cache.give_up("0");
}

TEST_CASE("Block cache: who asks for a block that is under way waits for it") {
  io::BlockCache cache("", 0, 1 << 20);
  REQUIRE(cache.get_or_begin("k") == nullptr);
  std::string got;
  std::thread waiting([&] { got = *cache.get_or_begin("k"); });
  cache.put("k", "late");
  waiting.join();
  CHECK(got == "late");
  REQUIRE(cache.get_or_begin("other") == nullptr);
  cache.give_up("other");
  CHECK(cache.get_or_begin("other") == nullptr);  // the next one tries again
  cache.give_up("other");
}
