// A whole file as bytes: mapped, or unpacked into memory when it is gzip. For captures, which are
// read once from front to back; logs that grow are read by positioned reads instead.
#pragma once

#include <memory>
#include <string>

#include "base/bytes.h"
#include "base/result.h"
#include "io/fault_guard.h"

namespace sonde::io {

// Only regular files open: a pipe, a socket or a device would be waited for without end. A file
// that is cut by somebody else while it is mapped reads as zeros beyond its end, and was_cut() says
// so.
class MappedFile {
 public:
  static Result<MappedFile> open(const std::string& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&&) = delete;
  ~MappedFile();

  Bytes bytes() const { return {data_, size_}; }
  bool was_cut() const { return guard_.has_faulted(); }
  // From now on its bytes may be written to; the file stays as it is.
  void allow_writing() const;
  // Gives the pages back; reading them again reads the file again.
  void forget() const { forget(bytes()); }
  // Those that lie wholly in a part of it.
  void forget(Bytes part) const;

 private:
  MappedFile() = default;
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
  FaultGuard guard_;
};

// The content of a file, gzip undone whatever its name says. A truncated or damaged gzip stream
// gives what could be unpacked; `damage` then says so.
struct Content {
  std::unique_ptr<MappedFile> mapped;
  std::string unpacked;
  bool is_unpacked = false;
  std::string damage;

  // kCorrupt with a sentence when the file was cut while it was read: what was made of it is to be
  // thrown away. To be asked when the last byte has been read.
  Result<void> check_whole(const std::string& path) const;

  Bytes bytes() const { return is_unpacked ? as_bytes(unpacked) : mapped->bytes(); }
  // The content is not needed any more, or hardly: what was unpacked is gone.
  void forget() {
    if (is_unpacked) {
      unpacked = std::string();
    } else {
      mapped->forget();
    }
  }
  // A part was read and is not needed for a while: it may be read again, but need not stay in
  // memory until then.
  void pass(Bytes part) const {
    if (!is_unpacked) mapped->forget(part);
  }
};
// kTooLarge when the unpacked size would exceed `limit_bytes`, or kMaxRatio times the packed one.
Result<Content> read_content(const std::string& path, uint64_t limit_bytes = uint64_t{16} << 30);

// Undoes gzip (all members). `damage` as above.
Result<std::string> gunzipped(Bytes packed, uint64_t limit_bytes, std::string* damage);

}  // namespace sonde::io
