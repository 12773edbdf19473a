#include "capture/remote/grpc_stream.h"

#include <fmt/format.h>
#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/strings.h"

namespace sonde::remote {
namespace {

constexpr size_t kPrefix = 5;                  // compressed flag, length (big-endian)
constexpr size_t kMostHeaderBytes = 64 << 10;  // names and values of one answer
constexpr size_t kMostStatusText = 4 << 10;    // of grpc-message, for people
constexpr int32_t kWindow = 32 << 20;          // what may be under way: traces are large
constexpr size_t kPiece = 64 << 10;
constexpr size_t kFrameHead = 9, kFrameType = 3;  // a server's first frame is its settings

nghttp2_nv pair(std::string_view name, std::string_view value) {
  const auto bytes = [](std::string_view text) {
    return reinterpret_cast<uint8_t*>(const_cast<char*>(text.data()));
  };
  return {bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
}

uint32_t message_length(std::string_view body) {
  uint32_t length = 0;
  for (size_t i = 1; i < kPrefix; ++i) length = length << 8 | static_cast<uint8_t>(body[i]);
  return length;
}

}  // namespace

struct GrpcStream::Callbacks {
  static int header(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name,
                    size_t name_size, const uint8_t* value, size_t value_size, uint8_t,
                    void* self) {
    auto& stream = *static_cast<GrpcStream*>(self);
    if (frame->hd.stream_id != stream.stream_) return 0;
    stream.header_bytes_ += name_size + value_size;
    if (stream.header_bytes_ > kMostHeaderBytes) return NGHTTP2_ERR_CALLBACK_FAILURE;
    const std::string_view key(reinterpret_cast<const char*>(name), name_size);
    const std::string_view text(reinterpret_cast<const char*>(value), value_size);
    const auto number = [&](int& into) {
      int read = 0;
      const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), read);
      if (problem == std::errc() && end == text.data() + text.size() && read >= 0) into = read;
    };
    if (key == ":status") {
      number(stream.http_status_);
    } else if (key == "content-type") {
      stream.content_type_ = text;
    } else if (key == "grpc-status") {
      number(stream.status_);
    } else if (key == "grpc-message") {
      stream.status_text_ = to_utf8(percent_decoded(text.substr(0, kMostStatusText)));
    }
    return 0;
  }

  static int data(nghttp2_session*, uint8_t, int32_t id, const uint8_t* bytes, size_t size,
                  void* self) {
    auto& stream = *static_cast<GrpcStream*>(self);
    if (id != stream.stream_) return 0;
    if (!stream.content_type_.starts_with("application/grpc")) return 0;  // some server's page
    const uint64_t limit = stream.request_.max_answer_bytes + kPrefix;
    if (stream.body_.size() + size > limit) {
      stream.too_large_ = true;
      return NGHTTP2_ERR_CALLBACK_FAILURE;
    }
    stream.body_.append(reinterpret_cast<const char*>(bytes), size);
    if (stream.body_.size() >= kPrefix &&
        message_length(stream.body_) > stream.request_.max_answer_bytes) {
      stream.too_large_ = true;  // told before it is sent
      return NGHTTP2_ERR_CALLBACK_FAILURE;
    }
    return 0;
  }

  static int stream_close(nghttp2_session*, int32_t id, uint32_t error, void* self) {
    auto& stream = *static_cast<GrpcStream*>(self);
    if (id != stream.stream_) return 0;
    stream.done_ = true;
    stream.stream_error_ = error;
    return 0;
  }

  static int frame(nghttp2_session*, const nghttp2_frame* frame, void* self) {
    if (frame->hd.type == NGHTTP2_GOAWAY) static_cast<GrpcStream*>(self)->is_leaving_ = true;
    return 0;
  }

  static ssize_t read_message(nghttp2_session*, int32_t, uint8_t* into, size_t room,
                              uint32_t* flags, nghttp2_data_source*, void* self) {
    auto& stream = *static_cast<GrpcStream*>(self);
    const size_t size = std::min(room, stream.framed_.size() - stream.framed_sent_);
    std::memcpy(into, stream.framed_.data() + stream.framed_sent_, size);
    stream.framed_sent_ += size;
    if (stream.framed_sent_ == stream.framed_.size()) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return static_cast<ssize_t>(size);
  }
};

GrpcStream::GrpcStream(GrpcRequest request)
    : request_(std::move(request)), session_(nullptr, nghttp2_session_del) {
  const auto length = static_cast<uint32_t>(request_.message.size());
  framed_ = {'\0', static_cast<char>(length >> 24), static_cast<char>(length >> 16),
             static_cast<char>(length >> 8), static_cast<char>(length)};
  framed_ += request_.message;

  nghttp2_session_callbacks* made = nullptr;
  nghttp2_session_callbacks_new(&made);
  const std::unique_ptr<nghttp2_session_callbacks, void (*)(nghttp2_session_callbacks*)> callbacks(
      made, nghttp2_session_callbacks_del);
  nghttp2_session_callbacks_set_on_header_callback(made, Callbacks::header);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(made, Callbacks::data);
  nghttp2_session_callbacks_set_on_frame_recv_callback(made, Callbacks::frame);
  nghttp2_session_callbacks_set_on_stream_close_callback(made, Callbacks::stream_close);
  nghttp2_session* session = nullptr;
  nghttp2_session_client_new(&session, made, this);
  session_.reset(session);

  const nghttp2_settings_entry settings[] = {
      {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kWindow},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, kMostHeaderBytes},
  };
  nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, settings, std::size(settings));
  nghttp2_session_set_local_window_size(session, NGHTTP2_FLAG_NONE, 0, kWindow);

  const std::string timeout =
      fmt::format("{}m", std::min<int64_t>(request_.timeout_ms, 99'999'999));
  nghttp2_nv headers[] = {
      pair(":method", "POST"),
      pair(":scheme", "http"),
      pair(":authority", request_.authority),
      pair(":path", request_.path),
      pair("te", "trailers"),
      pair("content-type", "application/grpc"),
      pair("user-agent", "sonde"),
      pair("grpc-timeout", timeout),
  };
  const size_t count = std::size(headers) - (request_.timeout_ms > 0 ? 0 : 1);
  nghttp2_data_provider provider{};
  provider.read_callback = Callbacks::read_message;
  stream_ = nghttp2_submit_request(session, nullptr, headers, count, &provider, nullptr);
}

GrpcStream::~GrpcStream() = default;

std::string_view GrpcStream::output() {
  if (out_sent_ == out_.size()) {
    out_.clear();
    out_sent_ = 0;
    const uint8_t* bytes = nullptr;
    while (out_.size() < kPiece) {
      const ssize_t size = nghttp2_session_mem_send(session_.get(), &bytes);
      if (size <= 0) break;
      out_.append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(size));
    }
  }
  return std::string_view(out_).substr(out_sent_);
}

void GrpcStream::sent(size_t bytes) { out_sent_ = std::min(out_.size(), out_sent_ + bytes); }

tl::unexpected<Error> GrpcStream::not_grpc(std::string_view why) const {
  return fail(Code::kCorrupt,
              fmt::format("{} is not a profiler server: {}", request_.authority, why));
}

Result<void> GrpcStream::feed(Bytes bytes) {
  if (greeting_.size() < kFrameHead) {
    greeting_ += as_text(bytes).substr(0, kFrameHead - greeting_.size());
    if (greeting_.starts_with("HTTP"))
      return not_grpc("it answers as a web server; name the port that the program profiles on");
    if (greeting_.size() > kFrameType && greeting_[kFrameType] != NGHTTP2_SETTINGS)
      return not_grpc("its answer is no HTTP/2");
  }
  const ssize_t taken = nghttp2_session_mem_recv(
      session_.get(), reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  if (too_large_) {
    return fail(Code::kTooLarge,
                fmt::format("the answer of {} is larger than {}; record a shorter time",
                            request_.authority, human_bytes(request_.max_answer_bytes)));
  }
  if (taken < 0) {
    if (done_) return {};  // what follows the answer is nobody's business
    return not_grpc("its answer is no HTTP/2");
  }
  output();  // nghttp2 gives a conversation up by what it wants to send last
  return health();
}

Result<void> GrpcStream::health() const {
  if (done_ || nghttp2_session_want_read(session_.get()) != 0) return {};
  return is_leaving_ ? closed() : not_grpc("its answer breaks the rules of HTTP/2");
}

Result<void> GrpcStream::closed() const {
  if (done_) return {};
  if (greeting_.empty()) return not_grpc("it closed the connection without a word");
  return fail(Code::kBusy, fmt::format("{} closed the connection before its answer was complete; "
                                       "has the program ended?",
                                       request_.authority));
}

Result<std::string> GrpcStream::refused() const {
  const std::string said = status_text_.empty() ? "" : fmt::format(": {}", status_text_);
  switch (static_cast<GrpcStatus>(status_)) {
    case GrpcStatus::kUnimplemented:
      return fail(Code::kUnsupported,
                  fmt::format("{} is a gRPC server but offers no such call{}; name the port that "
                              "the program profiles on",
                              request_.authority, said));
    case GrpcStatus::kDeadlineExceeded:
      return fail(Code::kIo, fmt::format("{} did not finish in time{}", request_.authority, said));
    case GrpcStatus::kUnavailable:
    case GrpcStatus::kAlreadyExists:
      return fail(Code::kBusy, fmt::format("{} cannot record now{}", request_.authority, said));
    default:
      // «Another profiling session active.» comes as an internal error: it ends by itself.
      if (status_text_.find("profiling session active") != std::string::npos ||
          status_text_.find("profiler is running") != std::string::npos) {
        return fail(Code::kBusy,
                    fmt::format("{} is recording for somebody else{}", request_.authority, said));
      }
      return fail(Code::kIo, fmt::format("{} could not record (gRPC status {}){}",
                                         request_.authority, status_, said));
  }
}

Result<std::string> GrpcStream::take_message() {
  if (stream_error_ != 0 && status_ < 0) {
    return fail(Code::kBusy, fmt::format("{} broke its answer off ({})", request_.authority,
                                         nghttp2_http2_strerror(stream_error_)));
  }
  if (status_ > 0) return refused();
  if (http_status_ != 200 || !content_type_.starts_with("application/grpc"))
    return not_grpc(fmt::format("it answers with status {} and '{}'", http_status_,
                                to_utf8(content_type_.substr(0, 100))));
  if (status_ < 0) return not_grpc("its answer has no gRPC status");
  if (body_.size() < kPrefix) return not_grpc("its answer holds no message");
  if (body_[0] != 0)
    return fail(Code::kUnsupported,
                fmt::format("{} answers with a compressed message", request_.authority));
  const uint32_t length = message_length(body_);
  if (body_.size() - kPrefix != length)
    return not_grpc("the length of its message is not what it says");
  body_.erase(0, kPrefix);
  return std::move(body_);
}

}  // namespace sonde::remote
