// AWS's signature of a request, version 4: pure text in, one header out.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sonde::io {

struct S3Credentials {
  std::string access_key, secret_key, session_token;
  bool is_anonymous() const { return access_key.empty(); }
};

struct S3Request {
  std::string_view method;
  std::string_view host;  // with its port when it is not the scheme's own
  std::string_view path;  // encoded: "/bucket/key%20x"
  std::vector<std::pair<std::string, std::string>> query;    // not encoded
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case, without host
  std::string_view payload_sha256;
};

// The value of the Authorization header. `time` is "20150830T123600Z"; the headers that are signed
// are host and those given.
std::string s3_authorization(const S3Request& request, const S3Credentials& credentials,
                             std::string_view region, std::string_view service,
                             std::string_view time);

// The query as it stands in the address: sorted and encoded as the signature wants it.
std::string canonical_query(std::vector<std::pair<std::string, std::string>> query);

// HMAC-SHA-256, raw bytes.
std::string hmac_sha256(std::string_view key, std::string_view text);

}  // namespace sonde::io
