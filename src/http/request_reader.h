// Turns the bytes of a connection into requests, one after the other. Wraps Beast's parser, the
// only place that includes it, and adds what a public door needs: every limit has its own status
// and sentence, and no memory is set aside for a length that a client merely claims.
//
//   reader.feed(bytes) -> how many were used; the rest is offered again with more behind it.
//   kHead: the head is complete; call accept_body() or answer without it.  kDone: so is the body.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sonde::io {
class Spool;
}

namespace sonde::http {

struct Head {
  std::string method;
  std::string target;  // as sent
  int version = 11;    // 10 or 11
  bool keep_alive = true;
  bool expects_continue = false;
  bool has_body = false;
  std::optional<uint64_t> content_length;
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case

  std::string_view header(std::string_view name) const;  // empty when absent
};

class RequestReader {
 public:
  static constexpr size_t kMaxHeaderBytes = 128 << 10;  // pr_curves names every run in its URL
  static constexpr size_t kMaxTargetBytes = 96 << 10;

  enum class State : uint8_t { kNeedsMore, kHead, kDone, kFailed };

  RequestReader();
  ~RequestReader();

  size_t feed(std::string_view bytes);
  State state() const { return state_; }

  Head& head() { return head_; }
  // After kHead; the state is then kNeedsMore or kDone. With a spool the body goes there.
  void accept_body(uint64_t limit, std::shared_ptr<io::Spool> spool = nullptr);
  std::string& body();          // empty with a spool
  uint64_t body_bytes() const;  // that have arrived

  // After kFailed: what to answer before closing.
  int status() const { return status_; }
  const std::string& text() const { return text_; }

  void reset();  // ready for the next request

 private:
  struct Parser;
  void refuse(int status, std::string_view text);
  void read_head();

  std::unique_ptr<Parser> parser_;
  Head head_;
  State state_ = State::kNeedsMore;
  bool begun_ = false, past_first_line_ = false;
  size_t head_bytes_ = 0;
  int status_ = 0;
  std::string text_;
};

}  // namespace sonde::http
