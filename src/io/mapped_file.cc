#include "io/mapped_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "io/inflate.h"
#include "io/remote/beside.h"
#include "io/remote/remote.h"

namespace sonde::io {
namespace {

Error system_error(const std::string& path) {
  const Code code = errno == ENOENT ? Code::kNotFound : Code::kIo;
  return {code, fmt::format("{}: {}", path, std::strerror(errno))};
}

Error cut_error(const std::string& path) {
  return {Code::kCorrupt, path + ": the file was cut while it was read; load it again"};
}

}  // namespace

Result<void> Content::check_whole(const std::string& path) const {
  if (mapped && mapped->was_cut()) return fail(cut_error(path));
  return {};
}

Result<MappedFile> MappedFile::open(const std::string& path) {
  if (auto fetched = fetch_stand_in(path); !fetched) return fail(fetched.error());
  // O_NONBLOCK: opening a pipe without a writer must not wait for one.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return fail(system_error(path));
  struct stat info;
  if (::fstat(fd, &info) != 0) {
    const Error error = system_error(path);
    ::close(fd);
    return fail(error);
  }
  MappedFile file;
  if (!S_ISREG(info.st_mode)) {
    ::close(fd);
    return fail(Code::kInvalid, path + ": not a regular file");
  }
  if (info.st_size > 0) {
    void* data = ::mmap(nullptr, static_cast<size_t>(info.st_size), PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED) {
      const Error error = system_error(path);
      ::close(fd);
      return fail(error);
    }
    ::madvise(data, static_cast<size_t>(info.st_size), MADV_SEQUENTIAL);
    file.data_ = static_cast<const std::byte*>(data);
    file.size_ = static_cast<size_t>(info.st_size);
    if (!file.guard_.guard(data, file.size_)) {
      ::close(fd);
      return fail(Code::kBusy, path + ": too many files are open at once; try again");
    }
  }
  ::close(fd);
  return file;
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      guard_(std::move(other.guard_)) {}

MappedFile::~MappedFile() {
  guard_.release();
  if (data_) ::munmap(const_cast<std::byte*>(data_), size_);
}

void MappedFile::allow_writing() const {
  if (data_) ::mprotect(const_cast<std::byte*>(data_), size_, PROT_READ | PROT_WRITE);
}

void MappedFile::forget(Bytes part) const {
  if (!data_ || part.data() < data_ || part.data() + part.size() > data_ + size_) return;
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = static_cast<size_t>(part.data() - data_), end = begin + part.size();
  const size_t first = (begin + page - 1) / page * page;  // a mapping begins with a page
  const size_t last = end == size_ ? size_ : end / page * page;
  if (first < last) ::madvise(const_cast<std::byte*>(data_) + first, last - first, MADV_DONTNEED);
}

Result<std::string> gunzipped(Bytes packed, uint64_t limit_bytes, std::string* damage) {
  z_stream stream{};
  if (inflateInit2(&stream, 15 + 16) != Z_OK) return fail(Code::kIo, "zlib did not start");
  std::string out;
  const uint64_t most = std::min(limit_bytes, most_unpacked_bytes(packed.size()));
  out.resize(
      std::min<uint64_t>({std::max<uint64_t>(packed.size() * 6, 1 << 16), most + 1, 1 << 30}));
  size_t used = 0, taken = 0;
  int status = Z_OK;
  while (taken < packed.size() || stream.avail_in != 0) {
    if (stream.avail_in == 0) {
      const size_t piece = std::min<size_t>(packed.size() - taken, 1 << 30);
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(packed.data() + taken));
      stream.avail_in = static_cast<uInt>(piece);
      taken += piece;
    }
    if (used == out.size()) out.resize(std::min<uint64_t>(most + 1, out.size() * 2));
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + used);
    stream.avail_out = static_cast<uInt>(std::min<size_t>(out.size() - used, 1 << 30));
    const size_t room = stream.avail_out;
    status = inflate(&stream, Z_NO_FLUSH);
    used += room - stream.avail_out;
    if (used > most) {
      inflateEnd(&stream);
      return fail(Code::kTooLarge,
                  most < limit_bytes
                      ? fmt::format("unpacks to more than {} times its {} bytes; not read",
                                    kMaxRatio, packed.size())
                      : fmt::format("unpacks to more than {} bytes", limit_bytes));
    }
    if (status == Z_STREAM_END) {
      const bool another =
          stream.avail_in >= 2 && stream.next_in[0] == 0x1f && stream.next_in[1] == 0x8b;
      if (!another) break;  // anything else after a member is padding
      inflateReset(&stream);
    } else if (status != Z_OK) {
      const bool wants_room =
          status == Z_BUF_ERROR && (stream.avail_in != 0 || taken != packed.size());
      if (!wants_room) break;
    }
  }
  inflateEnd(&stream);
  if (status != Z_STREAM_END && damage) {
    *damage = fmt::format("gzip stream is {} after {} unpacked bytes",
                          status == Z_DATA_ERROR ? "damaged" : "cut off", used);
  }
  out.resize(used);
  return out;
}

Result<Content> read_content(const std::string& path, uint64_t limit_bytes) {
  SONDE_TRY(file, MappedFile::open(path));
  Content content;
  const Bytes bytes = file.bytes();
  if (bytes.size() >= 2 && bytes[0] == std::byte{0x1f} && bytes[1] == std::byte{0x8b}) {
    auto unpacked = gunzipped(bytes, limit_bytes, &content.damage);
    if (!unpacked) return fail(std::move(unpacked.error()).in(path));
    content.unpacked = std::move(*unpacked);
    content.is_unpacked = true;
    if (file.was_cut()) return fail(cut_error(path));
    return content;
  }
  content.mapped = std::make_unique<MappedFile>(std::move(file));
  return content;
}

}  // namespace sonde::io
