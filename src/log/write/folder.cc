#include "log/write/folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "io/remote/upload.h"

namespace sonde::writer {
namespace {

bool is_scheme(std::string_view text) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  return !text.empty() && is_letter(text[0]) && std::ranges::all_of(text, [&](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
  });
}

std::string without_escapes(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    int code = 0;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(&text[i + 1], &text[i + 3], code, 16).ptr == &text[i + 3]) {
      out += static_cast<char>(code);
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace

bool is_store(std::string_view name) {
  return name.starts_with("s3://") || name.starts_with("gs://") || name.starts_with("az://");
}

Result<std::string> local_folder(std::string_view name) {
  const size_t at = name.find("://");
  if (at == name.npos || !is_scheme(name.substr(0, at)))
    return std::string(name.empty() ? "." : name);
  const std::string_view rest = name.substr(at + 3);
  if (name.substr(0, at) != "file")
    return fail(Code::kUnsupported,
                fmt::format("cannot write to {}: logs are written to folders of this machine and "
                            "to s3://, gs:// and az://",
                            name));
  const size_t path = rest.find('/');
  if (path == rest.npos || (path > 0 && rest.substr(0, path) != "localhost"))
    return fail(Code::kUnsupported,
                fmt::format("cannot write to {}: a file:// address names an absolute path of this "
                            "machine, as in file:///data/logs",
                            name));
  return without_escapes(rest.substr(path));
}

Result<void> check_folder(const std::string& name) {
  if (is_store(name)) return io::check_upload(name);
  if (auto local = local_folder(name); !local) return fail(local.error());
  return {};
}

}  // namespace sonde::writer
