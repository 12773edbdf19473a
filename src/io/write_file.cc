#include "io/write_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace sonde::io {
namespace {

tl::unexpected<Error> system_error(std::string_view what, const std::string& path) {
  const int number = errno;
  const bool denied = number == EACCES || number == EPERM || number == EROFS;
  if (number == ENOENT) return fail(Code::kNotFound, fmt::format("there is no file '{}'", path));
  return fail(denied ? Code::kForbidden : Code::kIo,
              fmt::format("cannot {} '{}': {}", what, path, std::strerror(number)));
}

// Closes on every way out.
struct Descriptor {
  int fd = -1;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

bool write_all(int fd, std::string_view content) {
  while (!content.empty()) {
    const ssize_t n = ::write(fd, content.data(), content.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    content.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

}  // namespace

Result<void> write_whole(const std::string& path, std::string_view content) {
  std::error_code ignored;
  const std::string folder = std::filesystem::path(path).parent_path().string();
  std::filesystem::create_directories(folder, ignored);  // the open below tells what is wrong
  std::string temporary = fmt::format("{}.{}.XXXXXX", path, ::getpid());
  Descriptor file{::mkostemp(temporary.data(), O_CLOEXEC)};
  if (file.fd < 0) return system_error("write", path);
  const bool written = write_all(file.fd, content) && ::fchmod(file.fd, 0644) == 0 &&
                       ::fsync(file.fd) == 0 && ::rename(temporary.c_str(), path.c_str()) == 0;
  if (!written) {
    auto failed = system_error("write", path);
    ::unlink(temporary.c_str());
    return failed;
  }
  // The rename itself must survive a power cut; a folder that cannot be synced is no reason to
  // fail.
  const Descriptor parent{::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (parent.fd >= 0) ::fsync(parent.fd);
  return {};
}

Result<std::string> read_whole(const std::string& path, size_t limit, Links links) {
  const int refuse = links == Links::kRefuse ? O_NOFOLLOW : 0;
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | refuse)};
  if (file.fd < 0) return system_error("read", path);
  struct stat info{};
  if (::fstat(file.fd, &info) != 0) return system_error("read", path);
  if (!S_ISREG(info.st_mode)) return fail(Code::kInvalid, fmt::format("'{}' is no file", path));
  if (static_cast<uint64_t>(info.st_size) > limit)
    return fail(Code::kTooLarge, fmt::format("'{}' is larger than {} bytes", path, limit));
  std::string content(static_cast<size_t>(info.st_size), '\0');
  size_t at = 0;
  while (at < content.size()) {
    const ssize_t n = ::read(file.fd, content.data() + at, content.size() - at);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return system_error("read", path);
    if (n == 0) break;
    at += static_cast<size_t>(n);
  }
  content.resize(at);
  return content;
}

bool may_write_at(const std::string& path) {
  // The nearest folder that exists decides.
  std::filesystem::path folder = std::filesystem::path(path).parent_path();
  while (!folder.empty()) {
    if (::access(folder.c_str(), F_OK) == 0) return ::access(folder.c_str(), W_OK | X_OK) == 0;
    if (folder == folder.parent_path()) break;
    folder = folder.parent_path();
  }
  return false;
}

std::string state_folder() {
  if (const char* state = std::getenv("XDG_STATE_HOME"); state && *state == '/')
    return std::string(state) + "/sonde";
  if (const char* home = std::getenv("HOME"); home && *home == '/')
    return std::string(home) + "/.local/state/sonde";
  return {};
}

}  // namespace sonde::io
