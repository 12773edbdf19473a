#include "http/reply.h"

#include <doctest/doctest.h>

#include "http/encoding.h"

using namespace sonde;
using http::Compress;
using http::Head;

namespace {

const http::Policy kPolicy = http::make_policy({});

Head request(std::vector<std::pair<std::string, std::string>> headers = {},
             std::string method = "GET") {
  Head head;
  head.method = std::move(method);
  head.headers = std::move(headers);
  return head;
}

api::Answer media(std::string body) {
  api::Answer answer;
  answer.content_type = "image/png";
  answer.body = std::move(body);
  answer.allows_range = true;
  answer.etag = "\"v1\"";
  return answer;
}

bool has(const http::Reply& reply, std::string_view line) {
  return reply.head.find("\r\n" + std::string(line) + "\r\n") != std::string::npos;
}

}  // namespace

TEST_CASE("Reply: every form of a range request") {
  struct Case {
    std::string_view range;
    int status;
    std::string_view body, content_range;
  };
  const Case cases[] = {
      {"bytes=0-3", 206, "0123", "bytes 0-3/10"},
      {"bytes=4-", 206, "456789", "bytes 4-9/10"},
      {"bytes=-3", 206, "789", "bytes 7-9/10"},
      {"bytes=-99", 206, "0123456789", "bytes 0-9/10"},
      {"bytes=8-99", 206, "89", "bytes 8-9/10"},
      {"bytes=10-", 416, "", "bytes */10"},
      {"bytes=-0", 416, "", "bytes */10"},
      {"bytes=5-2", 200, "0123456789", ""},
      {"bytes=a-b", 200, "0123456789", ""},
      {"bytes=0-1,4-5", 200, "0123456789", ""},
      {"lines=0-1", 200, "0123456789", ""},
      {"bytes=", 200, "0123456789", ""},
      {"bytes=99999999999999999999999-", 416, "", "bytes */10"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.range);
    const auto reply = http::make_reply(kPolicy, media("0123456789"),
                                        request({{"range", std::string(c.range)}}), Compress::kYes);
    CHECK(reply.status == c.status);
    CHECK(reply.body() == c.body);
    CHECK(has(reply, "Content-Length: " + std::to_string(c.body.size())));
    if (!c.content_range.empty())
      CHECK(has(reply, "Content-Range: " + std::string(c.content_range)));
  }
  CHECK(http::make_reply(kPolicy, media("0123"),
                         request({{"range", "bytes=0-0"}, {"if-range", "\"v0\""}}), Compress::kNo)
            .status == 200);
  CHECK(http::make_reply(kPolicy, media("0123"),
                         request({{"range", "bytes=0-0"}, {"if-range", "\"v1\""}}), Compress::kNo)
            .status == 206);
}

TEST_CASE("Reply: what the client has already is not sent again") {
  for (const std::string tag : {"\"v1\"", "W/\"v1\"", "\"a\", \"v1\"", "*"}) {
    const auto reply =
        http::make_reply(kPolicy, media("0123"), request({{"if-none-match", tag}}), Compress::kNo);
    CHECK(reply.status == 304);
    CHECK(reply.head_only);
    CHECK(has(reply, "ETag: \"v1\""));
    CHECK(reply.head.find("Content-Length") == std::string::npos);
  }
  CHECK(http::make_reply(kPolicy, media("0123"), request({{"if-none-match", "\"v2\""}}),
                         Compress::kNo)
            .status == 200);

  // An answer without a tag of its own gets one from its content.
  const auto first = http::make_reply(kPolicy, api::Answer::json("[1]"), request(), Compress::kNo);
  const size_t at = first.head.find("ETag: ");
  REQUIRE(at != std::string::npos);
  const std::string tag = first.head.substr(at + 6, first.head.find("\r\n", at) - at - 6);
  CHECK(http::make_reply(kPolicy, api::Answer::json("[1]"), request({{"if-none-match", tag}}),
                         Compress::kNo)
            .status == 304);
  CHECK(http::make_reply(kPolicy, api::Answer::json("[2]"), request({{"if-none-match", tag}}),
                         Compress::kNo)
            .status == 200);
}

TEST_CASE("Reply: compression follows what the client takes") {
  const std::string text(5000, 'a');
  const auto packed = [&](std::string offer, Compress compress = Compress::kYes) {
    return http::make_reply(kPolicy, api::Answer::json(text), request({{"accept-encoding", offer}}),
                            compress);
  };
  CHECK(has(packed("gzip, deflate, br, zstd"), "Content-Encoding: zstd"));
  CHECK(has(packed("gzip, deflate"), "Content-Encoding: gzip"));
  CHECK(has(packed("*"), "Content-Encoding: gzip"));
  CHECK(has(packed("gzip;q=0.5, zstd;q=0"), "Content-Encoding: gzip"));
  CHECK(packed("gzip").body().size() < 200);
  CHECK(packed("gzip;q=0, identity").body() == text);
  CHECK(packed("").body() == text);
  CHECK(packed("gzip", Compress::kNo).body() == text);
  CHECK(has(packed(""), "Vary: Accept-Encoding"));
  CHECK(has(packed("gzip, deflate, br, zstd", Compress::kCheap), "Content-Encoding: zstd"));
  CHECK(packed("gzip, deflate", Compress::kCheap).body() == text);
  const std::string large((1 << 20) + 1, 'a');
  CHECK(http::make_reply(kPolicy, api::Answer::json(large),
                         request({{"accept-encoding", "gzip, zstd"}}), Compress::kCheap)
            .body() == large);
  CHECK(
      http::make_reply(kPolicy, media(text), request({{"accept-encoding", "gzip"}}), Compress::kYes)
          .body() == text);
}

TEST_CASE("Reply: every answer carries the security headers; none is split by its values") {
  api::Answer answer = api::Answer::json("{}");
  answer.headers.emplace_back("Location", "/a\r\nSet-Cookie: x=1");
  answer.headers.emplace_back("X-Fine", "yes");
  const auto reply = http::make_reply(kPolicy, std::move(answer), request(), Compress::kNo);
  CHECK(has(reply, "X-Content-Type-Options: nosniff"));
  CHECK(has(reply, "Referrer-Policy: no-referrer"));
  CHECK(has(reply, "X-Fine: yes"));
  CHECK(reply.head.find("Content-Security-Policy: default-src 'self'") != std::string::npos);
  CHECK(reply.head.find("Set-Cookie") == std::string::npos);
  CHECK(reply.head.find("unsafe") == std::string::npos);
  CHECK(reply.head.find("Access-Control") == std::string::npos);
  CHECK(reply.head.ends_with("\r\n\r\n"));
}

TEST_CASE("Reply: HEAD has the length of GET, old clients are kept or closed") {
  const auto head =
      http::make_reply(kPolicy, api::Answer::json("[1]"), request({}, "HEAD"), Compress::kNo);
  CHECK(head.head_only);
  CHECK(has(head, "Content-Length: 3"));
  Head old = request();
  old.version = 10;
  old.keep_alive = false;
  CHECK(has(http::make_reply(kPolicy, api::Answer::json("1"), old, Compress::kNo),
            "Connection: close"));
  old.keep_alive = true;
  CHECK(has(http::make_reply(kPolicy, api::Answer::json("1"), old, Compress::kNo),
            "Connection: keep-alive"));
}
