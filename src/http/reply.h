// From an answer to the bytes that go out: status line, headers, conditional and range requests,
// compression, the security headers that every answer carries. No sockets here.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "api/answer.h"
#include "http/assets.h"
#include "http/request_reader.h"

namespace sonde::http {

// What all replies of a server share.
struct Policy {
  std::string security_headers;  // complete lines
  std::string csp;               // of an answer that brings none of its own
};
// `frame_hosts` may show the page in a frame beside notebooks on this machine.
Policy make_policy(const std::vector<std::string>& frame_hosts,
                   const std::vector<std::string>& frame_ancestors = {});

// kCheap: only what a browser of today unpacks and what is packed within about 2 ms.
enum class Compress : uint8_t { kNo, kCheap, kYes };

struct Reply {
  int status = 200;
  std::string head;  // status line and headers, ready to send
  bool close = false;
  bool head_only = false;  // HEAD, 304: nothing of the body is sent
  bool chunked = false;    // streams: pieces are framed

  std::string_view body() const;  // valid while the reply lives where it is; empty with pieces
  size_t size() const;            // of the body
  api::Pieces* pieces() { return std::get_if<api::Pieces>(&content); }
  api::Stream* stream() const;
  api::EventStream* events() const;

  api::Body content;
  std::string_view fixed;  // of an asset: lives as long as the program
  size_t offset = 0;       // the part that a range request asked for
  size_t length = SIZE_MAX;
};

// The ETag of an answer that brings none of its own.
std::string content_tag(std::string_view body);

Reply make_reply(const Policy& policy, api::Answer answer, const Head& request, Compress compress);
Reply make_reply(const Policy& policy, const Asset& asset, const Head& request);

// The answer to something that could not be read as a request: sent before closing.
Reply make_refusal(const Policy& policy, int status, std::string_view text);

}  // namespace sonde::http
