// How a function fails: Result<T> carries a value or an Error, and nothing in this program throws.
// Files come from crashed jobs and strangers, so failure is on the main path and in the signature.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace sonde {

// What a caller can *do* about a failure. Add a code only when some caller branches on it.
enum class Code : uint8_t {
  kNotFound,     // the run, tag, file or session is not there: 404
  kInvalid,      // the request or the flag is wrong: 400, say which part
  kCorrupt,      // bytes contradict their own format: keep what was read, mark the file
  kUnsupported,  // well formed, but newer or rarer than this program: say what is missing
  kIo,           // the system refused: carries the errno text
  kForbidden,    // not allowed: a path outside the log directory, a read-only sidecar: 403
  kConflict,     // somebody else changed it first: 412
  kTooLarge,     // beyond a stated limit: 413
  kBusy,         // try again later: 503
};

struct [[nodiscard]] Error {
  Code code;
  std::string text;  // one sentence, lower case, no full stop, names the thing: "tag 'loss' ..."

  // Puts the place in front while an error travels up: "events.123: record at 40: bad length crc".
  Error in(std::string_view place) && {
    text.insert(0, std::string(place) + ": ");
    return std::move(*this);
  }
};

template <class T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> fail(Code code, std::string text) {
  return tl::unexpected<Error>(Error{code, std::move(text)});
}

inline tl::unexpected<Error> fail(Error error) { return tl::unexpected<Error>(std::move(error)); }

}  // namespace sonde

#define SONDE_CONCAT_(a, b) a##b
#define SONDE_CONCAT(a, b) SONDE_CONCAT_(a, b)

// SONDE_TRY(name, expression): declares `name` with the value, or returns the error to the caller.
#define SONDE_TRY(name, ...)                                                                     \
  auto SONDE_CONCAT(result_, __LINE__) = (__VA_ARGS__);                                          \
  if (!SONDE_CONCAT(result_, __LINE__))                                                          \
    return ::tl::unexpected<::sonde::Error>(std::move(SONDE_CONCAT(result_, __LINE__)).error()); \
  auto name = std::move(*SONDE_CONCAT(result_, __LINE__))
