#include "io/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/crc32c.h"
#include "io/inflate.h"
#include "io/remote/beside.h"
#include "io/remote/remote.h"

namespace sonde::io {
namespace {

tl::unexpected<Error> failed(const std::string& path, int error) {
  return fail(error == ENOENT || error == ENOTDIR ? Code::kNotFound : Code::kIo,
              path + ": " + std::strerror(error));
}

}  // namespace

FileStat converted(const struct ::stat& s) {
  return {.size = static_cast<uint64_t>(s.st_size),
          .device = s.st_dev,
          .inode = s.st_ino,
          .mtime_ns = int64_t{s.st_mtim.tv_sec} * 1'000'000'000 + s.st_mtim.tv_nsec,
          .regular = S_ISREG(s.st_mode)};
}

Result<File> File::open(const std::string& path) {
  if (auto fetched = fetch_stand_in(path); !fetched) return fail(fetched.error());
  // O_NONBLOCK: opening a pipe without a writer must not wait for one.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return failed(path, errno);
  struct stat s;
  if (::fstat(fd, &s) != 0) {
    const int error = errno;
    ::close(fd);
    return failed(path, error);
  }
  File file(fd, converted(s), path);
  if (!file.stat_.regular) return fail(Code::kIo, path + ": not a regular file");
  return file;
}

File::File(File&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), stat_(other.stat_), path_(std::move(other.path_)) {}

File::~File() {
  if (fd_ >= 0) ::close(fd_);
}

Result<size_t> File::read_at(uint64_t offset, std::span<std::byte> into) {
  size_t done = 0;
  while (done < into.size()) {
    const ssize_t n =
        ::pread(fd_, into.data() + done, into.size() - done, static_cast<off_t>(offset + done));
    if (n == 0) break;
    if (n > 0) {
      done += static_cast<size_t>(n);
    } else if (errno != EINTR) {
      return failed(path_, errno);
    }
  }
  return done;
}

Result<std::unique_ptr<Source>> open_source(const std::string& path) {
  if (is_remote(path)) return open_remote(path);
  SONDE_TRY(file, File::open(path));
  return std::unique_ptr<Source>(std::make_unique<File>(std::move(file)));
}

Result<std::unique_ptr<Source>> open_records(const std::string& path) {
  SONDE_TRY(source, open_source(path));
  std::array<std::byte, 12> head{};
  SONDE_TRY(n, source->read_at(0, head));
  const Bytes bytes(head.data(), n);
  if (const Compression kind = sniff_compression(bytes); kind != Compression::kNone) {
    const bool is_frame = n == 12 && masked_crc32c(bytes.first(8)) == load<uint32_t>(bytes, 8);
    if (!is_frame) return open_inflating(std::move(source), kind);
  }
  return source;
}

Result<FileStat> stat_of(const std::string& path) {
  if (is_remote(path)) return stat_remote(path);
  struct stat s;
  if (::stat(path.c_str(), &s) != 0) return failed(path, errno);
  return converted(s);
}

Result<std::string> read_file(const std::string& path, uint64_t limit) {
  SONDE_TRY(source, open_source(path));
  if (source->stat().size > limit)
    return fail(Code::kTooLarge, path + ": larger than " + std::to_string(limit) + " bytes");
  std::string text(source->stat().size, '\0');
  SONDE_TRY(n, source->read_at(0, {reinterpret_cast<std::byte*>(text.data()), text.size()}));
  text.resize(n);
  return text;
}

}  // namespace sonde::io
