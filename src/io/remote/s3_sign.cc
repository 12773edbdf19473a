#include "io/remote/s3_sign.h"

#include <algorithm>

#include "base/sha256.h"
#include "base/strings.h"

namespace sonde::io {
namespace {

std::string raw_sha256(std::string_view bytes) {
  const std::string hex = sha256_hex(bytes);
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string raw;
  for (size_t i = 0; i < hex.size(); i += 2)
    raw.push_back(static_cast<char>(digit(hex[i]) << 4 | digit(hex[i + 1])));
  return raw;
}

std::string hex_of(std::string_view raw) {
  std::string hex;
  for (const char c : raw) {
    hex.push_back("0123456789abcdef"[static_cast<unsigned char>(c) >> 4]);
    hex.push_back("0123456789abcdef"[static_cast<unsigned char>(c) & 15]);
  }
  return hex;
}

}  // namespace

std::string hmac_sha256(std::string_view key, std::string_view text) {
  constexpr size_t kBlock = 64;
  std::string padded(key.size() > kBlock ? raw_sha256(key) : std::string(key));
  padded.resize(kBlock, '\0');
  std::string inner, outer;
  for (const char c : padded) {
    inner.push_back(static_cast<char>(c ^ 0x36));
    outer.push_back(static_cast<char>(c ^ 0x5c));
  }
  return raw_sha256(outer + raw_sha256(inner.append(text)));
}

std::string canonical_query(std::vector<std::pair<std::string, std::string>> query) {
  for (auto& [name, value] : query) {
    name = percent_encoded(name);
    value = percent_encoded(value);
  }
  std::ranges::sort(query);
  std::string out;
  for (const auto& [name, value] : query) {
    if (!out.empty()) out.push_back('&');
    out += name + "=" + value;
  }
  return out;
}

std::string s3_authorization(const S3Request& request, const S3Credentials& credentials,
                             std::string_view region, std::string_view service,
                             std::string_view time) {
  auto headers = request.headers;
  headers.emplace_back("host", request.host);
  std::ranges::sort(headers);
  std::string canonical_headers, signed_names;
  for (const auto& [name, value] : headers) {
    canonical_headers += name + ":" + std::string(trimmed(value)) + "\n";
    if (!signed_names.empty()) signed_names.push_back(';');
    signed_names += name;
  }
  std::string canonical(request.method);
  canonical.append("\n").append(request.path).append("\n").append(canonical_query(request.query));
  canonical.append("\n").append(canonical_headers).append("\n").append(signed_names);
  canonical.append("\n").append(request.payload_sha256);

  const std::string date(time.substr(0, 8));
  const std::string scope =
      date + "/" + std::string(region) + "/" + std::string(service) + "/aws4_request";
  const std::string to_sign =
      "AWS4-HMAC-SHA256\n" + std::string(time) + "\n" + scope + "\n" + sha256_hex(canonical);
  std::string key = hmac_sha256("AWS4" + credentials.secret_key, date);
  for (const std::string_view part : {region, service, std::string_view("aws4_request")})
    key = hmac_sha256(key, part);
  return "AWS4-HMAC-SHA256 Credential=" + credentials.access_key + "/" + scope +
         ", SignedHeaders=" + signed_names + ", Signature=" + hex_of(hmac_sha256(key, to_sign));
}

}  // namespace sonde::io
