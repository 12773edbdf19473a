// Where an S3-compatible store is and who asks: environment and files as AWS's own tools read them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "io/remote/s3_sign.h"

namespace sonde::io {

struct S3Config {
  S3Credentials credentials;
  std::string region = "us-east-1";
  std::string endpoint;  // "http://127.0.0.1:9000"; empty: AWS's own
  enum class Style : uint8_t { kAuto, kPath, kVirtualHost } style = Style::kAuto;
};

// Looks up an environment variable; nothing when it is not set.
using Environment = std::function<std::optional<std::string>(const char* name)>;
// The text of a file; nothing when it cannot be read.
using ReadText = std::function<std::optional<std::string>(const std::string& path)>;

// AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_REGION, AWS_DEFAULT_REGION,
// AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, AWS_PROFILE, AWS_SHARED_CREDENTIALS_FILE, AWS_CONFIG_FILE,
// then ~/.aws/credentials and ~/.aws/config. Without keys requests are anonymous.
S3Config read_s3_config(const Environment& environment, const ReadText& read);
// The same from this process's surroundings.
S3Config read_s3_config();

// Where a bucket answers: address of the host, then the path's beginning ("" or "/bucket").
struct S3Address {
  std::string scheme, host, path;
};
S3Address s3_address(const S3Config& config, std::string_view bucket);

}  // namespace sonde::io
