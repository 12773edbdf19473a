// One connection of a gRPC server as a conversation of bytes: requests come out, answers go in.
// Knows no socket and no clock, so that a hostile client is a string in a test. HTTP/2 itself
// (frames, header compression, flow control) is nghttp2's.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

struct nghttp2_session;

namespace sonde::http {

struct GrpcCall {
  int32_t stream = 0;
  std::string path;     // "/package.Service/Method"
  std::string message;  // protobuf
};

class GrpcSession {
 public:
  GrpcSession();
  ~GrpcSession();
  GrpcSession(const GrpcSession&) = delete;
  GrpcSession& operator=(const GrpcSession&) = delete;

  // Bytes of the client; false when it does not speak HTTP/2 and the connection is to be closed.
  bool feed(Bytes bytes);
  // Calls that arrived whole since the last time.
  std::vector<GrpcCall> take_calls();
  // Ends a call. A stream that the client has given up is no error.
  void answer(int32_t stream, Result<std::vector<std::string>> messages);

  // Bytes for the client; empty when there is nothing to say. The view holds until the next call.
  std::string_view output();
  void sent(size_t bytes);

  bool is_finished() const;  // both sides have said everything

 private:
  struct Callbacks;
  friend struct Callbacks;
  struct Stream {
    std::string path, body;
    size_t header_bytes = 0;
    bool is_post = false, is_grpc = false, is_whole = false;
    std::string out;      // messages behind their prefixes
    size_t out_sent = 0;  // how far nghttp2 has taken it
  };
  void finish(int32_t stream, int status, std::string_view text);
  void receive(int32_t id, Stream& stream);

  std::unique_ptr<nghttp2_session, void (*)(nghttp2_session*)> session_;
  std::map<int32_t, Stream> streams_;
  size_t held_bytes_ = 0;  // of requests that are not whole yet
  std::vector<GrpcCall> calls_;
  std::string out_;
  size_t out_sent_ = 0;
};

}  // namespace sonde::http
