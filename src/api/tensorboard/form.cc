// Form bodies: application/x-www-form-urlencoded and multipart/form-data, the two that
// TensorBoard's page and scripts send.
#include "api/tensorboard/shared.h"
#include "base/strings.h"

namespace sonde::api::tensorboard {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  }
  return out;
}

Fields urlencoded(std::string_view body) {
  Fields fields;
  if (body.empty()) return fields;
  for (const std::string_view pair : split(body, '&')) {
    if (pair.empty()) continue;
    const size_t equals = pair.find('=');
    fields.emplace_back(percent_decoded(pair.substr(0, equals), Plus::kSpace),
                        equals == std::string_view::npos
                            ? std::string()
                            : percent_decoded(pair.substr(equals + 1), Plus::kSpace));
  }
  return fields;
}

// The value of name="..." in a header, empty when it has none.
std::string_view quoted_parameter(std::string_view header, std::string_view name) {
  const std::string wanted = std::string(name) + "=";
  for (size_t at = header.find(wanted); at != std::string_view::npos;
       at = header.find(wanted, at + 1)) {
    if (at > 0 && header[at - 1] != ' ' && header[at - 1] != ';') continue;
    std::string_view value = header.substr(at + wanted.size());
    if (value.starts_with('"')) return value.substr(1, value.find('"', 1) - 1);
    return trimmed(value.substr(0, value.find(';')));
  }
  return {};
}

Fields multipart(std::string_view body, std::string_view boundary) {
  Fields fields;
  if (boundary.empty()) return fields;
  const std::string mark = "--" + std::string(boundary);
  size_t at = body.find(mark);
  while (at != std::string_view::npos) {
    at += mark.size();
    if (body.substr(at).starts_with("--")) break;
    const size_t next = body.find(mark, at);
    if (next == std::string_view::npos) break;
    std::string_view part = body.substr(at, next - at);
    const size_t blank = part.find("\r\n\r\n");
    if (blank != std::string_view::npos) {
      const std::string_view head = part.substr(0, blank);
      std::string_view value = part.substr(blank + 4);
      if (value.ends_with("\r\n")) value.remove_suffix(2);
      fields.emplace_back(quoted_parameter(head, "name"), value);
    }
    at = next;
  }
  return fields;
}

}  // namespace

Fields form_fields(const Request& request) {
  const std::string_view type = request.header("content-type");
  const std::string kind = lower(trimmed(type.substr(0, type.find(';'))));
  if (kind == "application/x-www-form-urlencoded") return urlencoded(request.body);
  if (kind == "multipart/form-data")
    return multipart(request.body, quoted_parameter(type, "boundary"));
  return {};
}

}  // namespace sonde::api::tensorboard
