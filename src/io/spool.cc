#include "io/spool.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace sonde::io {
namespace {

constexpr size_t kBufferBytes = 1 << 20;
constexpr uint64_t kCheckBytes = 16 << 20;  // the disk's room is looked at this often

Error system_error(std::string_view what) {
  return {errno == ENOSPC || errno == EDQUOT ? Code::kTooLarge : Code::kIo,
          fmt::format("{}: {}", what, std::strerror(errno))};
}

Result<int> nameless_file(const std::string& folder) {
  int fd = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd < 0) {  // a file system without such files
    std::string path = folder + "/sonde-upload-XXXXXX";
    fd = ::mkostemp(path.data(), O_CLOEXEC);
    if (fd >= 0) ::unlink(path.c_str());
  }
  if (fd < 0) return fail(system_error("an upload cannot be kept in " + folder));
  return fd;
}

}  // namespace

std::string spool_folder() {
  if (const char* folder = std::getenv("TMPDIR"); folder && *folder) return folder;
  return ::access("/var/tmp", W_OK | X_OK) == 0 ? "/var/tmp" : "/tmp";
}

Spool::Spool(SpoolQuota& quota, std::string folder)
    : quota_(quota), folder_(folder.empty() ? spool_folder() : std::move(folder)) {}

Spool::~Spool() {
  if (data_) ::munmap(const_cast<std::byte*>(data_), size_);
  if (fd_ >= 0) ::close(fd_);
  quota_.used -= reserved_;
}

Result<void> Spool::append(std::string_view piece) {
  if (quota_.used.fetch_add(piece.size()) + piece.size() > quota_.most) {
    quota_.used -= piece.size();
    return fail(Code::kTooLarge,
                fmt::format("the uploads under way take more than {} bytes together; try again "
                            "when they are done",
                            quota_.most));
  }
  reserved_ += piece.size();
  buffer_ += piece;
  return buffer_.size() < kBufferBytes ? Result<void>() : flush();
}

Result<void> Spool::flush() {
  if (fd_ < 0) {
    SONDE_TRY(fd, nameless_file(folder_));
    fd_ = fd;
  }
  if (checked_ == 0 || size_ >= checked_) {
    struct statvfs room{};
    if (::fstatvfs(fd_, &room) == 0 &&
        uint64_t{room.f_bavail} * room.f_frsize < quota_.min_free + kCheckBytes)
      return fail(Code::kTooLarge,
                  fmt::format("there is no room for uploads in {}: {} bytes are left free; set "
                              "TMPDIR to another folder",
                              folder_, quota_.min_free));
    checked_ = size_ + kCheckBytes;
  }
  for (std::string_view rest = buffer_; !rest.empty();) {
    const ssize_t n = ::write(fd_, rest.data(), rest.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return fail(system_error("an upload cannot be written to " + folder_));
    rest.remove_prefix(static_cast<size_t>(n));
  }
  size_ += buffer_.size();
  buffer_.clear();
  return {};
}

Result<Bytes> Spool::bytes() {
  if (fd_ < 0) return as_bytes(buffer_);  // short: never came to a file
  if (!data_) {
    if (auto flushed = flush(); !flushed) return fail(std::move(flushed).error());
    void* data = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, fd_, 0);
    if (data == MAP_FAILED) return fail(system_error("an upload cannot be read"));
    data_ = static_cast<const std::byte*>(data);
  }
  return Bytes(data_, size_);
}

}  // namespace sonde::io
