#include "http/page.h"

#include <doctest/doctest.h>

#include <stdexcept>
#include <vector>

#include "api/routes.h"

using namespace sonde;

namespace {

constexpr std::string_view kHtml =
    "<head></head><body>"
    "<script type=\"application/json\" data-answer=\"api/v1/runs\"></script>"
    "<script type=\"application/json\" data-answer=\"api/v1/tags\"></script>"
    "</body>";

}  // namespace

TEST_CASE("Page: the answers stand in the elements that name them and cannot end them") {
  std::vector<std::string> asked;
  const std::string page = http::filled_page(kHtml, [&](std::string_view path) {
    asked.emplace_back(path);
    api::Answer answer = api::Answer::json("{\"name\":\"</script><b>\"}");
    if (path == "api/v1/runs") answer.etag = "W/\"7\"";
    return answer;
  });
  CHECK(asked == std::vector<std::string>{"api/v1/runs", "api/v1/tags"});
  CHECK(page ==
        "<head></head><body>"
        "<script type=\"application/json\" data-answer=\"api/v1/runs\" "
        "data-etag=\"W/&quot;7&quot;\">{\"name\":\"\\u003c/script>\\u003cb>\"}</script>"
        "<script type=\"application/json\" data-answer=\"api/v1/tags\">"
        "{\"name\":\"\\u003c/script>\\u003cb>\"}</script>"
        "</body>");
}

TEST_CASE("Page: what throws while it is asked stays empty, and the rest is filled") {
  const std::string page = http::filled_page(kHtml, [](std::string_view path) {
    if (path == "api/v1/runs") throw std::runtime_error("a library's");
    return api::Answer::json("{}");
  });
  CHECK(page.find("data-answer=\"api/v1/runs\"></script>") != std::string::npos);
  CHECK(page.find("data-answer=\"api/v1/tags\">{}</script>") != std::string::npos);
}

TEST_CASE("Page: an answer in pieces, a refusal, a long one, a page that asks nothing") {
  const auto filled = [](api::Answer answer) {
    return http::filled_page(kHtml, [&](std::string_view) { return answer; });
  };
  api::Answer pieces = api::Answer::json("");
  pieces.body = api::Pieces{"[1,", "2]"};
  CHECK(filled(pieces).find(">[1,2]</script>") != std::string::npos);
  api::Answer refused = api::Answer::json("{}");
  refused.status = 503;
  CHECK(filled(refused) == kHtml);
  CHECK(filled(api::Answer::json(std::string(2 << 20, ' '))) == kHtml);
  CHECK(filled(api::plain_error(200, "words")) == kHtml);
  CHECK(http::filled_page("<p data-answer=\"x", [](std::string_view) {
          return api::Answer::json("1");
        }) == "<p data-answer=\"x");
}
