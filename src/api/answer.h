// A request and its answer without a socket, so that every route is tested without a port. The http
// layer parses, limits, compresses and sends; it knows no route's name.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"

namespace sonde::io {
class Spool;
}

namespace sonde::api {

struct Request {
  std::string method = "GET";  // HEAD is routed as GET; http drops the body
  std::string path;            // percent-decoded, without --path_prefix and /experiment/<id>
  std::string raw_query;       // as sent, without '?'
  std::vector<std::pair<std::string, std::string>> query;    // decoded, in order
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case
  std::string body;
  // Instead of `body` where the route takes uploads (max_body_bytes above kMaxBodyBytes).
  std::shared_ptr<io::Spool> upload;
  std::string experiment;  // from /experiment/<id>/, usually empty
  // Set by http when the client has gone while its answer is made: a long one may stop.
  std::shared_ptr<const std::atomic<bool>> gone;

  bool is_abandoned() const { return gone && gone->load(std::memory_order_relaxed); }

  // The body, wherever it is. kIo when an upload cannot be read back.
  Result<std::string_view> content() const;

  std::optional<std::string_view> param(std::string_view name) const;  // the first of that name
  std::vector<std::string_view> params(std::string_view name) const;   // all of that name
  std::string_view header(std::string_view name) const;                // empty when absent
};

// How long a browser may keep an answer.
enum class Cache : uint8_t { kNoCache, kNoStore, kImmutable };

// A body produced piece by piece (exports): next() gives the next piece, nothing at the end.
struct Stream {
  std::function<std::optional<std::string>()> next;
};

// A body that grows for ever (server-sent events). open() is called once with a sink that may be
// called from any thread; the sink returns false when the client has gone. The handle that open()
// returns is dropped then.
struct EventStream {
  using Sink = std::function<bool(std::string)>;
  std::function<std::shared_ptr<void>(Sink)> open;
};

// What an answer sends, in the form in which it was made.
using SharedText = std::shared_ptr<const std::string>;  // sent without a copy
using Pieces = std::vector<std::string>;                // sent one after another, never joined
using Body = std::variant<std::string, SharedText, Pieces, std::shared_ptr<Stream>,
                          std::shared_ptr<EventStream>>;

// Nobody knows how long it will be.
inline bool is_open_ended(const Body& body) {
  return std::holds_alternative<std::shared_ptr<Stream>>(body) ||
         std::holds_alternative<std::shared_ptr<EventStream>>(body);
}

// Calls fn(std::string_view) with each part of a body that is not open-ended.
template <class Fn>
void for_each_part(const Body& body, Fn&& fn) {
  if (const auto* text = std::get_if<std::string>(&body)) {
    fn(std::string_view(*text));
  } else if (const auto* shared = std::get_if<SharedText>(&body)) {
    if (*shared) fn(std::string_view(**shared));
  } else if (const auto* pieces = std::get_if<Pieces>(&body)) {
    for (const std::string& piece : *pieces) fn(std::string_view(piece));
  }
}

// A copy of everything in a body that is not open-ended.
inline std::string whole_text(const Body& body) {
  std::string out;
  for_each_part(body, [&](std::string_view part) { out += part; });
  return out;
}

struct Answer {
  int status = 200;
  std::string content_type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers;
  Body body;
  Cache cache = Cache::kNoCache;
  std::string etag;           // quoted; http answers 304 when the client has it already
  bool allows_range = false;  // http cuts the body for Range requests (media)
  bool is_complete = true;    // false: something could not be read this time; made anew next time
  std::string csp;            // overrides the page's Content-Security-Policy (blobs: "sandbox")

  // The body as one text to read or to write into; empty when it was of another form.
  std::string& text() {
    auto* text = std::get_if<std::string>(&body);
    return text ? *text : body.emplace<std::string>();
  }

  static Answer json(std::string body) {
    Answer answer;
    answer.body = std::move(body);
    return answer;
  }
};

}  // namespace sonde::api
