#include "api/services/memo.h"

#include <doctest/doctest.h>

namespace sonde::api {
namespace {

int made_for(Memo& memo, const std::string& key, uint64_t mark, int& count) {
  return *memo.get<int>(key, mark, [&](const int*) { return ++count; });
}

}  // namespace

TEST_CASE("Memo: a value is made once a mark, and the maker sees the one before") {
  Memo memo;
  int count = 0;
  CHECK(made_for(memo, "a", 1, count) == 1);
  CHECK(made_for(memo, "a", 1, count) == 1);
  const auto later = memo.get<int>("a", 2, [](const int* earlier) { return *earlier + 10; });
  CHECK(*later == 11);
  CHECK(memo.size() == 1);
}

TEST_CASE("Memo: at the limit the least recently used goes, not all") {
  Memo memo;
  int count = 0;
  for (size_t i = 0; i < Memo::kMaxEntries; ++i)
    made_for(memo, "key" + std::to_string(i), 0, count);
  CHECK(memo.size() == Memo::kMaxEntries);
  made_for(memo, "key0", 0, count);  // used again: key1 is the oldest now
  made_for(memo, "one more", 0, count);
  CHECK(memo.size() == Memo::kMaxEntries);
  const int before = count;
  made_for(memo, "key0", 0, count);
  CHECK(count == before);
  made_for(memo, "key1", 0, count);
  CHECK(count == before + 1);
}

TEST_CASE("Memo: long texts are bounded by their bytes") {
  Memo memo;
  const std::string large(Memo::kMaxTextBytes / 4, 'x');
  for (int i = 0; i < 8; ++i)
    memo.get<std::string>("text" + std::to_string(i), 0, [&](const std::string*) { return large; });
  CHECK(memo.size() == 3);  // four with their keys are a little more than the limit
}

}  // namespace sonde::api
