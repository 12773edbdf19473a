#include "http/response_cache.h"

#include <doctest/doctest.h>

#include <string>

using namespace sonde;
using http::ResponseCache;

namespace {

api::Answer answer_of(size_t size, char letter = 'x') {
  api::Answer answer;
  answer.body = std::make_shared<const std::string>(size, letter);
  answer.etag = std::string("W/\"") + letter + "\"";
  return answer;
}

constexpr size_t kBudget = 1 << 20;

}  // namespace

TEST_CASE("ResponseCache: an answer is found under its address and version only, with its tag") {
  ResponseCache kept(kBudget);
  kept.keep("/a?run=1", 7, answer_of(1000));
  const auto found = kept.find("/a?run=1", 7);
  REQUIRE(found);
  CHECK(std::get<api::SharedText>(found->body)->size() == 1000);
  CHECK(found->etag == "W/\"x\"");
  CHECK(!kept.find("/a?run=2", 7));
}

TEST_CASE("ResponseCache: another version forgets the answer and gives its memory back") {
  ResponseCache kept(kBudget);
  kept.keep("/a", 7, answer_of(1000));
  CHECK(!kept.find("/a", 8));
  CHECK(!kept.find("/a", 7));
  CHECK(kept.bytes() == 0);
}

TEST_CASE("ResponseCache: the newest answer of an address replaces the one before") {
  ResponseCache kept(kBudget);
  kept.keep("/a", 7, answer_of(1000, 'x'));
  const size_t bytes = kept.bytes();
  kept.keep("/a", 8, answer_of(1000, 'y'));
  CHECK(kept.bytes() == bytes);
  CHECK(std::get<api::SharedText>(kept.find("/a", 8)->body)->front() == 'y');
}

TEST_CASE("ResponseCache: the bound holds, and what was used last stays") {
  ResponseCache kept(kBudget);
  kept.keep("/first", 1, answer_of(10'000));
  for (int i = 0; i < 1000; ++i) {
    kept.keep("/" + std::to_string(i), 1, answer_of(10'000));
    CHECK(kept.bytes() <= kBudget);
    CHECK(kept.find("/first", 1));  // asked for all the time
  }
  CHECK(!kept.find("/0", 1));
  CHECK(kept.find("/999", 1));
  CHECK(kept.bytes() > kBudget / 2);
}

TEST_CASE("ResponseCache: many small answers count with what they cost besides their bodies") {
  ResponseCache kept(kBudget);
  for (int i = 0; i < 10'000; ++i) kept.keep("/" + std::to_string(i), 1, answer_of(1));
  int found = 0;
  for (int i = 0; i < 10'000; ++i) found += kept.find("/" + std::to_string(i), 1).has_value();
  CHECK(found > 0);
  CHECK(found <= 1024);
}

TEST_CASE("ResponseCache: neither a huge answer nor one without a shared body is kept") {
  ResponseCache kept(kBudget);
  kept.keep("/huge", 1, answer_of(kBudget / 4));
  kept.keep("/own", 1, api::Answer::json("[]"));
  CHECK(kept.bytes() == 0);
}
