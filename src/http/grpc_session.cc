#include "http/grpc_session.h"

#include <fmt/format.h>
#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <cstring>

#include "base/strings.h"

namespace sonde::http {
namespace {

constexpr size_t kPrefix = 5;                           // compressed flag, length (big-endian)
constexpr size_t kMostHeaderBytes = 64 << 10;           // names and values of one request
constexpr size_t kMostRequestBytes = size_t{64} << 20;  // of all unfinished requests together
constexpr size_t kMostStatusText = 4 << 10;
constexpr uint32_t kMostStreams = 256;
constexpr int32_t kWindow = 1 << 20;
constexpr size_t kPiece = 256 << 10;

// gRPC's status numbers.
enum : int { kOk = 0, kInvalidArgument = 3, kNotFound = 5, kPermissionDenied = 7 };
enum : int { kResourceExhausted = 8, kUnimplemented = 12, kInternal = 13, kUnavailable = 14 };

int status_of(Code code) {
  switch (code) {
    case Code::kNotFound:
      return kNotFound;
    case Code::kInvalid:
      return kInvalidArgument;
    case Code::kForbidden:
      return kPermissionDenied;
    case Code::kTooLarge:
      return kResourceExhausted;
    case Code::kUnsupported:
      return kUnimplemented;
    case Code::kBusy:
      return kUnavailable;
    default:
      return kInternal;
  }
}

nghttp2_nv pair(std::string_view name, std::string_view value) {
  const auto bytes = [](std::string_view text) {
    return reinterpret_cast<uint8_t*>(const_cast<char*>(text.data()));
  };
  return {bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
}

void append_prefix(std::string& out, size_t length) {
  out.push_back('\0');
  for (const int shift : {24, 16, 8, 0}) out.push_back(static_cast<char>(length >> shift));
}

}  // namespace

struct GrpcSession::Callbacks {
  static GrpcSession& self(void* user) { return *static_cast<GrpcSession*>(user); }

  static int begin_headers(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    if (frame->headers.cat == NGHTTP2_HCAT_REQUEST) self(user).streams_[frame->hd.stream_id];
    return 0;
  }

  static int header(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name,
                    size_t name_size, const uint8_t* value, size_t value_size, uint8_t,
                    void* user) {
    auto& streams = self(user).streams_;
    const auto found = streams.find(frame->hd.stream_id);
    if (found == streams.end()) return 0;
    Stream& stream = found->second;
    stream.header_bytes += name_size + value_size;
    if (stream.header_bytes > kMostHeaderBytes) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    const std::string_view key(reinterpret_cast<const char*>(name), name_size);
    const std::string_view text(reinterpret_cast<const char*>(value), value_size);
    if (key == ":path") stream.path = text;
    if (key == ":method") stream.is_post = text == "POST";
    if (key == "content-type") stream.is_grpc = text.starts_with("application/grpc");
    return 0;
  }

  static int data(nghttp2_session* session, uint8_t, int32_t id, const uint8_t* bytes, size_t size,
                  void* user) {
    GrpcSession& conversation = self(user);
    const auto found = conversation.streams_.find(id);
    if (found == conversation.streams_.end() || found->second.is_whole) return 0;
    if (conversation.held_bytes_ + size > kMostRequestBytes) {
      nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, id, NGHTTP2_ENHANCE_YOUR_CALM);
      found->second.is_whole = true;
      return 0;
    }
    conversation.held_bytes_ += size;
    found->second.body.append(reinterpret_cast<const char*>(bytes), size);
    return 0;
  }

  static int frame(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    const bool can_end = frame->hd.type == NGHTTP2_DATA || frame->hd.type == NGHTTP2_HEADERS;
    if (!can_end || (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) == 0) return 0;
    auto& streams = self(user).streams_;
    const auto found = streams.find(frame->hd.stream_id);
    if (found != streams.end() && !found->second.is_whole)
      self(user).receive(found->first, found->second);
    return 0;
  }

  static int stream_close(nghttp2_session*, int32_t id, uint32_t, void* user) {
    GrpcSession& conversation = self(user);
    const auto found = conversation.streams_.find(id);
    if (found == conversation.streams_.end()) return 0;
    conversation.held_bytes_ -= std::min(conversation.held_bytes_, found->second.body.size());
    conversation.streams_.erase(found);
    return 0;
  }

  static ssize_t read_answer(nghttp2_session* session, int32_t id, uint8_t* into, size_t room,
                             uint32_t* flags, nghttp2_data_source*, void* user) {
    auto& streams = self(user).streams_;
    const auto found = streams.find(id);
    if (found == streams.end()) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    Stream& stream = found->second;
    const size_t size = std::min(room, stream.out.size() - stream.out_sent);
    std::memcpy(into, stream.out.data() + stream.out_sent, size);
    stream.out_sent += size;
    if (stream.out_sent == stream.out.size()) {
      *flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
      const nghttp2_nv trailers[] = {pair("grpc-status", "0")};
      nghttp2_submit_trailer(session, id, trailers, std::size(trailers));
    }
    return static_cast<ssize_t>(size);
  }
};

GrpcSession::GrpcSession() : session_(nullptr, nghttp2_session_del) {
  nghttp2_session_callbacks* made = nullptr;
  nghttp2_session_callbacks_new(&made);
  const std::unique_ptr<nghttp2_session_callbacks, void (*)(nghttp2_session_callbacks*)> callbacks(
      made, nghttp2_session_callbacks_del);
  nghttp2_session_callbacks_set_on_begin_headers_callback(made, Callbacks::begin_headers);
  nghttp2_session_callbacks_set_on_header_callback(made, Callbacks::header);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(made, Callbacks::data);
  nghttp2_session_callbacks_set_on_frame_recv_callback(made, Callbacks::frame);
  nghttp2_session_callbacks_set_on_stream_close_callback(made, Callbacks::stream_close);
  nghttp2_session* session = nullptr;
  nghttp2_session_server_new(&session, made, this);
  session_.reset(session);
  const nghttp2_settings_entry settings[] = {
      {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, kMostStreams},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kWindow},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, kMostHeaderBytes},
  };
  nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, settings, std::size(settings));
}

GrpcSession::~GrpcSession() = default;

bool GrpcSession::feed(Bytes bytes) {
  return nghttp2_session_mem_recv(session_.get(), reinterpret_cast<const uint8_t*>(bytes.data()),
                                  bytes.size()) >= 0;
}

std::vector<GrpcCall> GrpcSession::take_calls() { return std::exchange(calls_, {}); }

void GrpcSession::receive(int32_t id, Stream& stream) {
  stream.is_whole = true;
  std::string body = std::move(stream.body);
  stream.body.clear();
  held_bytes_ -= std::min(held_bytes_, body.size());
  if (!stream.is_post || !stream.is_grpc)
    return finish(id, kUnimplemented, "this port speaks gRPC only");
  uint32_t length = 0;
  for (size_t i = 1; i < kPrefix && body.size() >= kPrefix; ++i)
    length = length << 8 | static_cast<uint8_t>(body[i]);
  if (body.size() < kPrefix || body.size() - kPrefix != length)
    return finish(id, kInternal, "the request is not one whole message");
  if (body[0] != 0) return finish(id, kUnimplemented, "compressed requests are not understood");
  calls_.push_back({id, stream.path, body.substr(kPrefix)});
}

// Headers and status in one: an answer without a message.
void GrpcSession::finish(int32_t stream, int status, std::string_view text) {
  const std::string number = std::to_string(status);
  const std::string message = percent_encoded(text.substr(0, kMostStatusText));
  const nghttp2_nv headers[] = {
      pair(":status", "200"),
      pair("content-type", "application/grpc"),
      pair("grpc-status", number),
      pair("grpc-message", message),
  };
  nghttp2_submit_response(session_.get(), stream, headers, std::size(headers), nullptr);
}

void GrpcSession::answer(int32_t id, Result<std::vector<std::string>> messages) {
  const auto found = streams_.find(id);
  if (found == streams_.end()) return;
  if (!messages) return finish(id, status_of(messages.error().code), messages.error().text);
  Stream& stream = found->second;
  for (const std::string& message : *messages) {
    if (message.size() > UINT32_MAX)
      return finish(id, kResourceExhausted, "the answer is larger than four gigabytes");
    append_prefix(stream.out, message.size());
    stream.out += message;
  }
  if (stream.out.empty()) return finish(id, kOk, "");
  const nghttp2_nv headers[] = {
      pair(":status", "200"),
      pair("content-type", "application/grpc"),
  };
  nghttp2_data_provider provider{};
  provider.read_callback = Callbacks::read_answer;
  nghttp2_submit_response(session_.get(), id, headers, std::size(headers), &provider);
}

std::string_view GrpcSession::output() {
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

void GrpcSession::sent(size_t bytes) { out_sent_ = std::min(out_.size(), out_sent_ + bytes); }

bool GrpcSession::is_finished() const {
  return nghttp2_session_want_read(session_.get()) == 0 &&
         nghttp2_session_want_write(session_.get()) == 0;
}

}  // namespace sonde::http
