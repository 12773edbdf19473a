#include "http/target.h"

#include <doctest/doctest.h>

using namespace sonde;
using http::parse_target;

TEST_CASE("Target: prefix, experiment, escapes and query") {
  struct Case {
    std::string_view target, prefix, path, experiment, redirect;
  };
  const Case cases[] = {
      {"/data/runs", "", "/data/runs", "", ""},
      {"/", "", "/", "", ""},
      {"/a%20b%2Fc", "", "/a b/c", "", ""},
      {"/a%zz%4", "", "/a%zz%4", "", ""},
      {"http://localhost:1/x?y", "", "/x", "", ""},
      {"http://localhost:1", "", "/", "", ""},
      {"/foo/bar/data/runs", "/foo/bar", "/data/runs", "", ""},
      {"/foo/bar", "/foo/bar", "", "", "/foo/bar/"},
      {"/foo/bar?a=1", "/foo/bar", "", "", "/foo/bar/?a=1"},
      {"/experiment/e1/data/runs", "", "/data/runs", "e1", ""},
      {"/experiment//data/runs", "", "/data/runs", "", ""},
      {"/experiment/e1", "", "", "e1", "/experiment/e1/"},
      {"/p/experiment/e%0d%0a1", "/p", "", "e\r\n1", "/p/experiment/e%0D%0A1/"},
      {"/p/experiment/e1/", "/p", "/", "e1", ""},
  };
  for (const Case& c : cases) {
    CAPTURE(c.target);
    const auto parsed = parse_target(c.target, c.prefix);
    REQUIRE(parsed);
    CHECK(parsed->path == c.path);
    CHECK(parsed->experiment == c.experiment);
    CHECK(parsed->redirect == c.redirect);
  }
  CHECK(parse_target("/foobar/x", "/foo").error().code == Code::kNotFound);
  CHECK(parse_target("/x", "/foo").error().code == Code::kNotFound);
  CHECK(parse_target("*", "").error().code == Code::kInvalid);
  CHECK(parse_target("", "").error().code == Code::kInvalid);

  const auto query = parse_target("/x?a=1+2&b&c=%26&&a=3#f", "")->query;
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  CHECK(query == Pairs{{"a", "1 2"}, {"b", ""}, {"c", "&"}, {"a", "3"}});
}
