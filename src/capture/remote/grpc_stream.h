// One unary gRPC call as a conversation of bytes: what is to be sent, what came back. Knows no
// socket and no clock, so that a hostile server is a string in a test. HTTP/2 itself (frames,
// header compression, flow control) is nghttp2's; the five bytes before a message and the status in
// the trailers are read here.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"

struct nghttp2_session;

namespace sonde::remote {

struct GrpcRequest {
  std::string authority;   // "localhost:6009"
  std::string path;        // "/tensorflow.ProfilerService/Profile"
  std::string message;     // protobuf
  int64_t timeout_ms = 0;  // told to the server; 0: none
  uint64_t max_answer_bytes = 0;
};

// gRPC's own status numbers that a caller branches on.
enum class GrpcStatus : int {
  kOk = 0,
  kDeadlineExceeded = 4,
  kAlreadyExists = 6,
  kUnimplemented = 12,
  kInternal = 13,
  kUnavailable = 14,
};

class GrpcStream {
 public:
  explicit GrpcStream(GrpcRequest request);
  ~GrpcStream();
  GrpcStream(const GrpcStream&) = delete;
  GrpcStream& operator=(const GrpcStream&) = delete;

  // Bytes for the server; empty when there is nothing to say. The view holds until the next call.
  std::string_view output();
  void sent(size_t bytes);  // so many of them have gone

  // Bytes of the server. An error ends the conversation: kCorrupt (no gRPC), kTooLarge.
  Result<void> feed(Bytes bytes);
  // The server closed the connection.
  Result<void> closed() const;
  // An error when nothing can come of this any more.
  Result<void> health() const;

  bool is_done() const { return done_; }
  uint64_t received_bytes() const { return body_.size(); }

  // Once done: the message, or what the server says against it.
  Result<std::string> take_message();
  int status() const { return status_; }  // gRPC's number; -1: none was given

 private:
  struct Callbacks;
  friend struct Callbacks;
  tl::unexpected<Error> not_grpc(std::string_view why) const;
  Result<std::string> refused() const;

  GrpcRequest request_;
  std::string framed_;      // the message behind its five bytes
  size_t framed_sent_ = 0;  // how far nghttp2 has taken it
  std::unique_ptr<nghttp2_session, void (*)(nghttp2_session*)> session_;
  int32_t stream_ = -1;
  std::string out_;
  size_t out_sent_ = 0;

  std::string body_;  // data frames as they came
  bool too_large_ = false, done_ = false, is_leaving_ = false;
  std::string greeting_;  // the first bytes that came, as many as tell HTTP/2 from anything else
  size_t header_bytes_ = 0;
  int http_status_ = 0, status_ = -1;
  uint32_t stream_error_ = 0;
  std::string content_type_, status_text_;
};

}  // namespace sonde::remote
