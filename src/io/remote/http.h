// One HTTP(S) request through libcurl, which is loaded when the first one is made: the program
// starts and works on machines that have none, and says what is missing when it is needed.
// Thread-safe; each thread keeps its connections open from one request to the next.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace sonde::io {

struct HttpRequest {
  std::string method = "GET";  // GET, HEAD, PUT, POST, DELETE
  std::string url;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string_view body = {};
  uint64_t max_answer_bytes = 64 << 20;
  bool follows = false;  // goes where the server sends it, to http(s) only
};

struct HttpAnswer {
  int status = 0;
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case
  std::string body;

  std::string_view header(std::string_view name) const;  // empty when absent
};

// kUnsupported when there is no libcurl, kIo when the server cannot be reached, kTooLarge. Any
// status is an answer. Messages name the host, never a header or a query.
Result<HttpAnswer> http_once(const HttpRequest& request);

// The same, tried again with growing pauses after refused connections and the statuses 408, 429,
// 500, 502, 503 and 504. `prepare` is called before each try (a signature holds the time).
inline constexpr int kMostTries = 6;
template <class Prepare>
Result<HttpAnswer> http_patiently(HttpRequest& request, Prepare&& prepare);

// What was asked of servers since the start, for /metrics.
struct HttpCounts {
  uint64_t requests = 0, failures = 0, retries = 0, bytes = 0;
};
HttpCounts http_counts();

// One line of template machinery: how long to wait before try number `attempt` (from 1).
bool deserves_retry(const Result<HttpAnswer>& answer);
void pause_before_retry(int attempt);

template <class Prepare>
Result<HttpAnswer> http_patiently(HttpRequest& request, Prepare&& prepare) {
  for (int attempt = 1;; ++attempt) {
    prepare(request);
    auto answer = http_once(request);
    if (attempt == kMostTries || !deserves_retry(answer)) return answer;
    pause_before_retry(attempt);
  }
}

}  // namespace sonde::io
