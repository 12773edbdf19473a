// Files as positioned reads: nobody keeps a cursor, nothing is mapped (a truncated mapping would
// end the process), and a descriptor lives only as long as a load or a request. Compressed record
// files look like plain ones through the same interface.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"

struct stat;

namespace sonde::io {

struct FileStat {
  uint64_t size = 0;
  uint64_t device = 0, inode = 0;
  int64_t mtime_ns = 0;
  bool regular = false;

  bool same_file(const FileStat& other) const {
    return device == other.device && inode == other.inode;
  }
  friend bool operator==(const FileStat&, const FileStat&) = default;
};

FileStat converted(const struct ::stat& stat);

// Bytes at positions.
class Source {
 public:
  virtual ~Source() = default;
  // Fills `into` from `offset`; fewer bytes only where the source ends.
  virtual Result<size_t> read_at(uint64_t offset, std::span<std::byte> into) = 0;
  // False when going back or far ahead costs more than reading on (compressed files).
  virtual bool random_access() const = 0;
  // Of the file on disk, when it was opened.
  virtual const FileStat& stat() const = 0;
};

// A plain file. Only regular files open: a pipe or device in a log directory must not hang a load.
class File final : public Source {
 public:
  static Result<File> open(const std::string& path);
  File(File&& other) noexcept;
  File& operator=(File&&) = delete;
  ~File() override;

  Result<size_t> read_at(uint64_t offset, std::span<std::byte> into) override;
  bool random_access() const override { return true; }
  const FileStat& stat() const override { return stat_; }

 private:
  File(int fd, FileStat stat, std::string path) : fd_(fd), stat_(stat), path_(std::move(path)) {}
  int fd_;
  FileStat stat_;
  std::string path_;
};

// A file or an object of a store (io/remote/remote.h).
Result<std::unique_ptr<Source>> open_source(const std::string& path);

// Opens a record file: plain, or inflating when its first bytes say gzip or zlib.
Result<std::unique_ptr<Source>> open_records(const std::string& path);

// kNotFound when there is nothing at the path.
Result<FileStat> stat_of(const std::string& path);

// Reads a whole small file; kTooLarge above `limit`.
Result<std::string> read_file(const std::string& path, uint64_t limit);

}  // namespace sonde::io
