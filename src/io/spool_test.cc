#include "io/spool.h"

#include <doctest/doctest.h>

#include <filesystem>

using namespace sonde;

TEST_CASE("Spool: what is appended is read back, short or long, and leaves nothing behind") {
  const std::string folder = std::filesystem::temp_directory_path() / "sonde_spool_test";
  std::filesystem::create_directories(folder);
  io::SpoolQuota quota;
  for (const size_t size : {size_t{0}, size_t{5}, size_t{1 << 20}, size_t{3'000'017}}) {
    std::string text(size, '\0');
    for (size_t i = 0; i < size; ++i) text[i] = static_cast<char>(i * 11 % 253);
    io::Spool spool(quota, folder);
    for (size_t at = 0; at < size; at += 70'001)
      REQUIRE(spool.append(std::string_view(text).substr(at, 70'001)));
    CHECK(spool.size() == size);
    CHECK(quota.used == size);
    const auto bytes = spool.bytes();
    REQUIRE(bytes);
    CHECK(as_text(*bytes) == text);
  }
  CHECK(quota.used == 0);
  CHECK(std::filesystem::is_empty(folder));
  std::filesystem::remove(folder);
}

TEST_CASE("Spool: the quota is shared, and given back") {
  io::SpoolQuota quota(100);
  io::Spool one(quota);
  REQUIRE(one.append(std::string(99, 'a')));
  {
    io::Spool two(quota);
    REQUIRE(two.append("b"));  // exactly full
    const auto more = two.append("c");
    REQUIRE(!more);
    CHECK(more.error().code == Code::kTooLarge);
  }
  CHECK(quota.used == 99);
}

TEST_CASE("Spool: a folder that cannot be written is named in the sentence") {
  io::SpoolQuota quota;
  io::Spool spool(quota, "/proc/no such folder");
  const auto kept = spool.append(std::string(2 << 20, 'x'));
  REQUIRE(!kept);
  CHECK(kept.error().text.find("/proc/no such folder") != std::string::npos);
}

TEST_CASE("Spool: uploads leave room on the disk") {
  const std::string folder = std::filesystem::temp_directory_path();
  const uint64_t free_bytes = std::filesystem::space(folder).available;
  const uint64_t slack = uint64_t{4} << 30;  // others write meanwhile
  const std::string text(2 << 20, 'x');
  if (free_bytes > 2 * slack) {
    io::SpoolQuota enough(slack, free_bytes - slack);
    CHECK(io::Spool(enough, folder).append(text));
  }
  io::SpoolQuota little(slack, free_bytes + slack);
  const auto refused = io::Spool(little, folder).append(text);
  REQUIRE(!refused);
  CHECK(refused.error().code == Code::kTooLarge);
  CHECK(refused.error().text.find("set TMPDIR to another folder") != std::string::npos);
  CHECK(little.used == 0);
}
