// The Model Context Protocol without a transport: one JSON-RPC message in, at most one out. Both
// eras are spoken: the handshake (initialize, up to 2025-11-25) and the self-contained requests of
// 2026-07-28, which carry version and capabilities in params._meta. Nothing is remembered between
// messages, so the same function serves stdio and HTTP.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/routes.h"

namespace sonde::api::mcp {

struct Reply {
  std::string body;  // empty: nothing to send (a notification)
  int status = 200;  // over HTTP
};

// `http` is the request that carried the message, whose headers must agree with it; nullptr: stdio.
// `may_write`: tools that write are listed and answer.
Reply reply_to(const Context& context, std::string_view message, const Request* http,
               bool may_write = false);

std::span<const Route> area();  // POST /mcp

}  // namespace sonde::api::mcp
