#include "http/request_reader.h"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <cctype>
#include <stdexcept>

#include "io/spool.h"

namespace sonde::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast::http;

// A body that grows as bytes arrive, in memory or in a spool. Beast's own string body reserves the
// claimed length at once.
struct GrowingBody {
  struct value_type {
    std::string text;
    std::shared_ptr<io::Spool> spool;
    Result<void> kept;  // the spool's last word

    uint64_t size() const { return spool ? spool->size() : text.size(); }
    void append(std::string_view piece) {
      if (!spool) {
        text += piece;
      } else if (kept) {
        kept = spool->append(piece);
      }
    }
  };
  class reader {
   public:
    template <bool isRequest, class Fields>
    reader(beast::header<isRequest, Fields>&, value_type& body) : body_(body) {}
    void init(const boost::optional<uint64_t>&, boost::system::error_code& error) { error = {}; }
    template <class Buffers>
    size_t put(const Buffers& buffers, boost::system::error_code& error) {
      error = {};
      size_t total = 0;
      for (auto it = asio::buffer_sequence_begin(buffers); it != asio::buffer_sequence_end(buffers);
           ++it) {
        const asio::const_buffer piece = *it;
        body_.append({static_cast<const char*>(piece.data()), piece.size()});
        total += piece.size();
      }
      return total;
    }
    void finish(boost::system::error_code& error) { error = {}; }

   private:
    value_type& body_;
  };
};

constexpr size_t kRestOfLine = 64;  // method, blanks and version beside the address

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

}  // namespace

std::string_view Head::header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (key == name) return value;
  }
  return {};
}

struct RequestReader::Parser {
  std::optional<beast::request_parser<GrowingBody>> beast;
  uint64_t body_limit = 0;
};

RequestReader::RequestReader() : parser_(std::make_unique<Parser>()) { reset(); }
RequestReader::~RequestReader() = default;

void RequestReader::reset() {
  parser_->beast.emplace();
  parser_->beast->header_limit(kMaxHeaderBytes);
  parser_->beast->body_limit(boost::none);  // checked here, against accept_body's limit
  parser_->beast->eager(false);
  state_ = State::kNeedsMore;
  begun_ = past_first_line_ = false;
  head_bytes_ = 0;
}

std::string& RequestReader::body() { return parser_->beast->get().body().text; }
uint64_t RequestReader::body_bytes() const { return parser_->beast->get().body().size(); }

void RequestReader::refuse(int status, std::string_view text) {
  state_ = State::kFailed;
  status_ = status;
  text_ = text;
}

size_t RequestReader::feed(std::string_view bytes) {
  size_t used = 0;
  auto& parser = *parser_->beast;
  // Empty lines between requests are allowed and mean nothing.
  while (!begun_ && used < bytes.size() && (bytes[used] == '\r' || bytes[used] == '\n')) ++used;
  while (state_ == State::kNeedsMore && used < bytes.size()) {
    begun_ = true;
    const bool in_head = !parser.is_header_done();
    boost::system::error_code error;
    const std::string_view rest = bytes.substr(used);
    // Five bytes at least are to come in a chunked body ("0 CRLF CRLF"); Beast asserts on fewer.
    if (!in_head && parser.chunked() && rest.size() < 5) break;
    size_t taken = 0;
    try {
      taken = parser.put(asio::buffer(rest.data(), rest.size()), error);
    } catch (const std::length_error&) {  // Beast's way to say that a name or a value passes 64 KiB
      refuse(431, "One of the request's headers is longer than 64 KiB");
      return bytes.size();
    }
    used += taken;
    if (taken > 0) past_first_line_ = true;
    // Beast's limit is for what it sees at once; ours is for the whole head.
    if (in_head && !error && !parser.is_header_done()) error = beast::error::need_more;
    if (in_head && (head_bytes_ += taken) > kMaxHeaderBytes) error = beast::error::header_limit;
    if (error == beast::error::need_more) {
      if (!past_first_line_ && rest.size() > kMaxTargetBytes + kRestOfLine) {
        refuse(414, "The address is too long");
      }
      break;
    }
    if (error == beast::error::header_limit) {
      refuse(past_first_line_ ? 431 : 414,
             past_first_line_ ? "The request's header is too large" : "The address is too long");
    } else if (error == beast::error::bad_version) {
      refuse(505, "Only HTTP/1.0 and HTTP/1.1 are spoken here");
    } else if (error) {
      refuse(400, "This is not a valid HTTP request");
    } else if (in_head && parser.is_header_done()) {
      read_head();
    } else if (parser.get().body().size() > parser_->body_limit) {
      refuse(413, "The request's body is too large");
    } else if (const auto& kept = parser.get().body().kept; !kept) {
      refuse(kept.error().code == Code::kTooLarge ? 507 : 500, kept.error().text);
    } else if (parser.is_done()) {
      state_ = State::kDone;
    }
  }
  return used;
}

void RequestReader::read_head() {
  auto& parser = *parser_->beast;
  auto& message = parser.get();
  head_ = Head();
  head_.method = std::string_view(message.method_string());
  head_.target = std::string_view(message.target());
  head_.version = static_cast<int>(message.version());
  head_.keep_alive = parser.keep_alive();
  if (const auto length = parser.content_length()) head_.content_length = *length;
  head_.has_body = parser.chunked() || head_.content_length.value_or(0) > 0;
  size_t hosts = 0;
  for (const auto& field : message) {
    head_.headers.emplace_back(lower(std::string_view(field.name_string())),
                               std::string_view(field.value()));
    if (field.name() == beast::field::host) ++hosts;
  }
  head_.expects_continue = head_.version == 11 && lower(head_.header("expect")) == "100-continue";
  if (head_.target.size() > kMaxTargetBytes) return refuse(414, "The address is too long");
  if (head_.version != 10 && head_.version != 11) {
    return refuse(505, "Only HTTP/1.0 and HTTP/1.1 are spoken here");
  }
  if (hosts > 1 || (hosts == 0 && head_.version == 11)) {
    return refuse(400, "The request must name its host once");
  }
  state_ = State::kHead;
}

void RequestReader::accept_body(uint64_t limit, std::shared_ptr<io::Spool> spool) {
  auto& parser = *parser_->beast;
  parser.get().body().spool = std::move(spool);
  parser_->body_limit = limit;
  if (head_.content_length.value_or(0) > limit) {
    return refuse(413, "The request's body is too large");
  }
  parser.eager(true);
  state_ = head_.has_body ? State::kNeedsMore : State::kDone;
}

}  // namespace sonde::http
