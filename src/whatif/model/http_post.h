// One HTTP/1.1 POST to a model's endpoint: plain http only, no redirect is followed, size and time
// are limited. A policy is asked about the numeric address, after the name was looked up.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "io/address_policy.h"

namespace sonde::whatif {

struct Url {
  std::string host;  // without brackets
  uint16_t port = 80;
  std::string path = "/";

  std::string origin() const;  // "http://host:port"
};
// kInvalid; kUnsupported for https.
Result<Url> url_of(std::string_view text);

struct PostOptions {
  std::string token;  // as "Authorization: Bearer"
  std::chrono::milliseconds timeout{30'000};
  uint64_t max_answer_bytes = uint64_t{256} << 20;
  const io::AddressPolicy* policy = nullptr;  // null: the command line named the endpoint
};
// The body of a 200 answer; the endpoint's own words otherwise.
Result<std::string> http_post(const Url& url, std::string_view json, const PostOptions& options);

}  // namespace sonde::whatif
