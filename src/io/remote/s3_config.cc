#include "io/remote/s3_config.h"

#include <algorithm>
#include <cstdlib>
#include <map>

#include "base/strings.h"
#include "io/file.h"

namespace sonde::io {
namespace {

using Section = std::map<std::string, std::string, std::less<>>;

// One section of an INI file. Lines that begin with a blank belong to the key above ("s3 ="): their
// keys are taken as they are.
Section section_of(std::string_view text, std::string_view wanted) {
  Section section;
  bool is_inside = false;
  for (const std::string_view raw : split(text, '\n')) {
    const std::string_view line = trimmed(raw);
    if (line.empty() || line.starts_with('#') || line.starts_with(';')) continue;
    if (line.starts_with('[') && line.ends_with(']')) {
      is_inside = trimmed(line.substr(1, line.size() - 2)) == wanted;
      continue;
    }
    const size_t equals = line.find('=');
    if (!is_inside || equals == std::string_view::npos) continue;
    section[std::string(trimmed(line.substr(0, equals)))] = trimmed(line.substr(equals + 1));
  }
  return section;
}

bool fits_in_host(std::string_view bucket) {
  return bucket.size() >= 3 && std::ranges::all_of(bucket, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
         });
}

}  // namespace

S3Config read_s3_config(const Environment& environment, const ReadText& read) {
  const auto variable = [&](std::initializer_list<const char*> names) -> std::string {
    for (const char* name : names) {
      if (auto value = environment(name); value && !value->empty()) return *value;
    }
    return "";
  };
  const std::string home = variable({"HOME"});
  const auto file = [&](const char* name, const char* otherwise) {
    const std::string given = variable({name});
    return read(given.empty() ? home + otherwise : given).value_or("");
  };
  std::string profile = variable({"AWS_PROFILE", "AWS_DEFAULT_PROFILE"});
  if (profile.empty()) profile = "default";
  const std::string config_text = file("AWS_CONFIG_FILE", "/.aws/config");
  Section section = section_of(config_text, profile == "default" ? profile : "profile " + profile);
  for (auto& [key, value] :
       section_of(file("AWS_SHARED_CREDENTIALS_FILE", "/.aws/credentials"), profile))
    section[key] = value;
  const auto setting = [&](const char* key) {
    const auto found = section.find(key);
    return found == section.end() ? std::string() : found->second;
  };
  const auto first = [](const std::string& a, const std::string& b) { return a.empty() ? b : a; };

  S3Config config;
  config.credentials.access_key = variable({"AWS_ACCESS_KEY_ID"});
  if (!config.credentials.access_key.empty()) {  // keys of one place, never mixed
    config.credentials.secret_key = variable({"AWS_SECRET_ACCESS_KEY"});
    config.credentials.session_token = variable({"AWS_SESSION_TOKEN"});
  } else {
    config.credentials = {setting("aws_access_key_id"), setting("aws_secret_access_key"),
                          setting("aws_session_token")};
  }
  config.region = first(variable({"AWS_REGION", "AWS_DEFAULT_REGION"}),
                        first(setting("region"), config.region));
  config.endpoint =
      first(variable({"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"}), setting("endpoint_url"));
  while (config.endpoint.ends_with('/')) config.endpoint.pop_back();
  const std::string style = setting("addressing_style");
  if (style == "path") config.style = S3Config::Style::kPath;
  if (style == "virtual") config.style = S3Config::Style::kVirtualHost;
  return config;
}

S3Config read_s3_config() {
  constexpr uint64_t kMostConfigBytes = 1 << 20;
  return read_s3_config(
      [](const char* name) -> std::optional<std::string> {
        const char* value = std::getenv(name);
        return value ? std::optional<std::string>(value) : std::nullopt;
      },
      [](const std::string& path) -> std::optional<std::string> {
        auto text = read_file(path, kMostConfigBytes);
        return text ? std::optional<std::string>(std::move(*text)) : std::nullopt;
      });
}

S3Address s3_address(const S3Config& config, std::string_view bucket) {
  using Style = S3Config::Style;
  S3Address address{"https", "s3." + config.region + ".amazonaws.com", ""};
  if (!config.endpoint.empty()) {
    const size_t scheme_end = config.endpoint.find("://");
    const bool has_scheme = scheme_end != std::string::npos;
    if (has_scheme) address.scheme = config.endpoint.substr(0, scheme_end);
    const std::string rest = has_scheme ? config.endpoint.substr(scheme_end + 3) : config.endpoint;
    const size_t slash = rest.find('/');
    address.host = rest.substr(0, slash);
    if (slash != std::string::npos) address.path = rest.substr(slash);
  }
  const bool by_host = config.style == Style::kVirtualHost ||
                       (config.style == Style::kAuto && config.endpoint.empty());
  if (by_host && fits_in_host(bucket)) {
    address.host = std::string(bucket) + "." + address.host;
  } else {
    address.path += "/" + percent_encoded(bucket);
  }
  return address;
}

}  // namespace sonde::io
