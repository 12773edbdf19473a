// Which addresses a server listens on, who may ask it, and the address printed for people.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/serve_options.h"
#include "http/guard.h"

namespace sonde::cli {

struct Binding {
  std::vector<std::string> addresses;  // numeric; empty with a Unix socket alone
  bool is_loopback = true;             // nobody outside this machine can connect
};

Result<Binding> binding_of(const ServeOptions& options);

// The token and host rules: a token when asked for or when reachable from outside.
Result<http::Access> access_of(const ServeOptions& options, const Binding& binding);

// "http://localhost:6006/", with the token as Jupyter prints it.
std::string url_of(const ServeOptions& options, const Binding& binding, uint16_t port,
                   const std::string& token);

}  // namespace sonde::cli
