// Sockets: binds, accepts, and runs one event loop a core. Each connection belongs to one loop and
// is touched by that loop's thread only; answers that take long are computed on worker threads and
// handed back. See connection.h for what happens on a connection.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "http/site.h"

namespace sonde::http {

struct ListenOptions {
  std::vector<std::string> addresses;  // numeric, bound together on one port; may be empty
  uint16_t port = 0;                   // 0: the system chooses
  uint16_t tries = 1;                  // further ports upward when one is in use
  bool reuse_port = false;
  std::string unix_socket;        // path; created with mode 0600
  std::string certfile, keyfile;  // PEM; both or none
  size_t threads = 0;             // 0: one a core
  size_t max_connections = 0;     // 0: what the descriptor limit allows, at most 16384
  // Patience with slow clients. Tests shorten them.
  std::chrono::milliseconds head_timeout{10'000};  // from a request's first byte to its last header
  std::chrono::milliseconds body_timeout{20'000};  // for each 64 kB of a body
  std::chrono::milliseconds write_timeout{30'000};  // without any progress of an answer
  std::chrono::milliseconds idle_timeout{120'000};  // between requests
  std::chrono::milliseconds heartbeat{15'000};      // comment line on an event stream
};

class Server {
 public:
  // Binds and listens, so that clients wait instead of failing; nothing is answered before start().
  // kConflict when the port is in use, kForbidden when it needs privileges, kInvalid for an address
  // that is not this machine's or certificates that cannot be used.
  static Result<std::unique_ptr<Server>> listen(ListenOptions options);
  ~Server();

  uint16_t port() const;  // 0 with a Unix socket alone

  void start(Site& site);  // returns at once; `site` outlives stop()

  // Stops accepting, lets answers under way finish for at most `patience`, closes everything.
  void stop(std::chrono::milliseconds patience);

 private:
  struct Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace sonde::http
