#include "http/request_reader.h"

#include <doctest/doctest.h>

using sonde::http::RequestReader;
using State = RequestReader::State;

namespace {

struct Read {
  State state = State::kNeedsMore;
  int status = 0;
  std::string method, target, body, rest;
};

// Feeds `bytes` in pieces of `step`, accepting bodies up to `limit`.
Read read(std::string_view bytes, size_t step, uint64_t limit = 100) {
  RequestReader reader;
  std::string inbox;
  size_t at = 0;
  while (reader.state() == State::kNeedsMore || reader.state() == State::kHead) {
    if (reader.state() == State::kHead) {
      reader.accept_body(limit);
      continue;
    }
    const size_t used = reader.feed(inbox);
    inbox.erase(0, used);
    if (reader.state() != State::kNeedsMore) continue;
    if (at == bytes.size()) break;
    inbox += bytes.substr(at, step);
    at = std::min(bytes.size(), at + step);
  }
  Read result;
  result.state = reader.state();
  result.status = reader.state() == State::kFailed ? reader.status() : 0;
  result.method = reader.head().method;
  result.target = reader.head().target;
  if (reader.state() == State::kDone) result.body = reader.body();
  result.rest = inbox + std::string(bytes.substr(at));
  return result;
}

}  // namespace

TEST_CASE("RequestReader: the same request however it is cut") {
  struct Case {
    std::string_view promise, bytes, body;
  };
  const Case cases[] = {
      {"no body", "GET /a?b=c HTTP/1.1\r\nHost: x\r\n\r\n", ""},
      {"a body of known length",
       "POST /a?b=c HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello", "hello"},
      {"a chunked body",
       "POST /a?b=c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
       "3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n",
       "hello"},
      {"an empty chunked body",
       "POST /a?b=c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", ""},
      {"empty lines before it", "\r\n\r\nGET /a?b=c HTTP/1.1\r\nHost: x\r\n\r\n", ""},
      {"HTTP/1.0 without a host", "GET /a?b=c HTTP/1.0\r\n\r\n", ""},
  };
  for (const Case& c : cases) {
    for (size_t step = 1; step <= c.bytes.size(); ++step) {
      CAPTURE(c.promise);
      CAPTURE(step);
      const Read r = read(c.bytes, step);
      CHECK(r.state == State::kDone);
      CHECK(r.target == "/a?b=c");
      CHECK(r.body == c.body);
      CHECK(r.rest.empty());
    }
  }
}

TEST_CASE("RequestReader: what follows a request is left alone") {
  const Read r = read("GET / HTTP/1.1\r\nHost: x\r\n\r\nGET /2 HTTP/1.1\r\n", 1000);
  CHECK(r.state == State::kDone);
  CHECK(r.rest == "GET /2 HTTP/1.1\r\n");
}

TEST_CASE("RequestReader: each limit has its status") {
  struct Case {
    std::string_view promise;
    std::string bytes;
    int status;
  };
  const std::string host = "Host: x\r\n";
  std::string many;
  for (int i = 0; i < 30'000; ++i) many += "A: b\r\n";
  const Case cases[] = {
      {"nonsense", "hello\r\n\r\n", 400},
      {"random bytes", std::string("\x16\x03\x01\x02\x00\x01\x00\x01", 8) + "\r\n\r\n", 400},
      {"HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
      {"no host", "GET / HTTP/1.1\r\n\r\n", 400},
      {"a header above 64 KiB",
       "GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(70000, 'a') + "\r\n\r\n", 431},
      {"two hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400},
      {"negative length", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", 400},
      {"two lengths",
       "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400},
      {"length and chunks (smuggling)",
       "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n",
       400},
      {"a body beyond the limit", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 101\r\n\r\n", 413},
      {"a claimed body of 16 EB",
       "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 18446744073709551615\r\n\r\n", 413},
      {"chunks beyond the limit",
       "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n65\r\n" +
           std::string(101, 'a') + "\r\n0\r\n\r\n",
       413},
      {"a long address", "GET /" + std::string(200'000, 'a') + " HTTP/1.1\r\n" + host + "\r\n",
       414},
      {"a long header",
       "GET / HTTP/1.1\r\n" + host + "A: " + std::string(200'000, 'a') + "\r\n\r\n", 431},
      {"many headers", "GET / HTTP/1.1\r\n" + host + many + "\r\n", 431},
  };
  for (const Case& c : cases) {
    CAPTURE(c.promise);
    const Read r = read(c.bytes, 4096);
    CHECK(r.state == State::kFailed);
    CHECK(r.status == c.status);
  }
}
