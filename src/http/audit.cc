#include "http/audit.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>

#include "base/log.h"
#include "base/strings.h"
#include "codec/json.h"
#include "io/file.h"

namespace sonde::http {

Audit::~Audit() {
  if (fd_ >= 0) ::close(fd_);
}

Result<void> Audit::open() {
  if (path_.empty() || fd_ >= 0) return {};
  fd_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (fd_ >= 0) return {};
  return fail(Code::kIo, "cannot write the audit log " + path_ + ": " + std::strerror(errno));
}

void Audit::add(const AuditLine& line) const {
  if (fd_ < 0) return;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  std::string text;
  JsonWriter json(text);
  json.object([&] {
    json.key("time").number(std::chrono::duration<double>(now).count());
    json.key("user").string(to_utf8(line.user));
    json.key("role").string(line.role);
    json.key("method").string(to_utf8(line.method));
    json.key("path").string(to_utf8(line.path));
    json.key("status").number(static_cast<int64_t>(line.status));
  });
  text += '\n';
  // One call: lines of several servers that share the file do not mix.
  if (::write(fd_, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    log::error("the audit log {} cannot be written: {}", path_, std::strerror(errno));
}

std::string Audit::newest(uint64_t bytes) const {
  auto file = io::File::open(path_);
  if (!file) return "";
  const uint64_t size = file->stat().size, from = size > bytes ? size - bytes : 0;
  std::string text(size - from, '\0');
  const auto read = file->read_at(from, {reinterpret_cast<std::byte*>(text.data()), text.size()});
  text.resize(read.value_or(0));
  if (from > 0) text.erase(0, text.find('\n') + 1);
  return text;
}

}  // namespace sonde::http
