// A gRPC server on loopback: one thread a connection moves bytes, a pool answers the calls, so a
// slow answer holds up no other.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace sonde::http {

class GrpcServer {
 public:
  // Thread-safe; called on the server's threads.
  using Handler =
      std::function<Result<std::vector<std::string>>(std::string_view path, Bytes message)>;

  // Binds `host` (a numeric address) and `port` (0: any free one) and answers from now on until the
  // object goes.
  static Result<std::unique_ptr<GrpcServer>> start(const std::string& host, uint16_t port,
                                                   Handler handler);
  virtual ~GrpcServer() = default;
  virtual uint16_t port() const = 0;
};

}  // namespace sonde::http
