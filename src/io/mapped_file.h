// A whole file as bytes: mapped, or unpacked into memory when it is gzip. For captures, which are
// read once from front to back; logs that grow are read by positioned reads instead.
#pragma once

#include <memory>
#include <string>

#include "base/bytes.h"
#include "base/result.h"

namespace sonde::io {

class MappedFile {
 public:
  static Result<MappedFile> open(const std::string& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&&) = delete;
  ~MappedFile();

  Bytes bytes() const { return {data_, size_}; }
  // Gives the pages back; reading them again reads the file again.
  void forget() const { forget(bytes()); }
  // Those that lie wholly in a part of it.
  void forget(Bytes part) const;

 private:
  MappedFile() = default;
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
};

// The content of a file, gzip undone whatever its name says. A truncated or damaged gzip stream
// gives what could be unpacked; `damage` then says so.
struct Content {
  std::unique_ptr<MappedFile> mapped;
  std::string unpacked;
  bool is_unpacked = false;
  std::string damage;

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
// kTooLarge when the unpacked size would exceed `limit_bytes`.
Result<Content> read_content(const std::string& path, uint64_t limit_bytes = uint64_t{16} << 30);

// Undoes gzip (all members). `damage` as above.
Result<std::string> gunzipped(Bytes packed, uint64_t limit_bytes, std::string* damage);

}  // namespace sonde::io
