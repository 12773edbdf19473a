// The request parser and the address parser under arbitrary bytes, cut at arbitrary places: whole
// and in pieces must agree, and nothing may be kept beyond the limits.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "http/encoding.h"
#include "http/guard.h"
#include "http/request_reader.h"
#include "http/target.h"

using sonde::http::RequestReader;
using State = RequestReader::State;

namespace {

struct Outcome {
  State state;
  std::string target, body;
};

Outcome read(std::string_view bytes, size_t step) {
  RequestReader reader;
  std::string inbox;
  for (size_t at = 0;;) {
    if (reader.state() == State::kHead) reader.accept_body(1 << 16);
    if (reader.state() != State::kNeedsMore) break;
    inbox.erase(0, reader.feed(inbox));
    if (reader.state() != State::kNeedsMore) continue;
    if (at >= bytes.size()) break;
    inbox += bytes.substr(at, step);
    at += step;
  }
  Outcome outcome{reader.state(), reader.head().target, {}};
  if (reader.state() == State::kDone) outcome.body = reader.body();
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const Outcome whole = read(bytes, size + 1);
  const Outcome pieces = read(bytes, 1 + (size > 0 ? data[0] % 7 : 0));
  if (whole.state == State::kDone && (pieces.state != State::kDone ||
                                      pieces.target != whole.target || pieces.body != whole.body)) {
    std::abort();
  }
  if (const auto target = sonde::http::parse_target(bytes, "/p");
      target && target->path.empty() && target->redirect.empty()) {
    std::abort();
  }
  sonde::http::accepted_codings(bytes);
  sonde::http::cookie_value(bytes, "sonde");
  sonde::http::host_allowed({}, bytes);
  return 0;
}
