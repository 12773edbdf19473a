// The part of a file that was not read yet. Notices when the file was replaced, cut or written
// anew, as loaders of event files do.
#pragma once

#include <string>
#include <vector>

#include "io/file.h"

namespace sonde::trackers {

class TailFile {
 public:
  explicit TailFile(std::string path) : path_(std::move(path)) {}

  // Opens the file and looks whether it is still the one that was read; true when it is not, and
  // reading begins again at its first byte.
  Result<bool> open();
  // At most `limit` bytes from position() on, which moves behind them. Empty at the end.
  Result<std::string> read(size_t limit);
  // The last `bytes` will be read again.
  void give_back(size_t bytes) { position_ -= bytes; }
  // What read() said last is dealt with; the file may be closed until the next open().
  void close();
  void rewind();

  uint64_t position() const { return position_; }
  const std::string& path() const { return path_; }
  double modified() const;  // Unix seconds, when it was opened

 private:
  Result<std::string> bytes_at(uint64_t offset, size_t size);

  const std::string path_;
  std::unique_ptr<io::File> file_;
  io::FileStat stat_;
  bool was_opened_ = false;
  uint64_t position_ = 0;
  std::string head_, tail_;  // first bytes, and the last before position_, when it was closed
};

}  // namespace sonde::trackers
