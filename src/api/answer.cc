#include "api/answer.h"

#include "io/spool.h"

namespace sonde::api {

Result<std::string_view> Request::content() const {
  if (!upload) return std::string_view(body);
  SONDE_TRY(bytes, upload->bytes());
  return as_text(bytes);
}

std::optional<std::string_view> Request::param(std::string_view name) const {
  for (const auto& [key, value] : query) {
    if (key == name) return value;
  }
  return std::nullopt;
}

std::vector<std::string_view> Request::params(std::string_view name) const {
  std::vector<std::string_view> found;
  for (const auto& [key, value] : query) {
    if (key == name) found.push_back(value);
  }
  return found;
}

std::string_view Request::header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (key == name) return value;
  }
  return {};
}

}  // namespace sonde::api
