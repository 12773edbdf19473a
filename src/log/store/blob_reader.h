// Reads what references point to, from the files as they are now. Checks the record's checksum
// first: the file may have been replaced since it was loaded, and a skimmed record was never
// checked.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "io/file.h"
#include "log/model/snapshot.h"

namespace sonde::store {

// Thread-safe.
class FileBlobReader final : public BlobReader {
 public:
  using Open = std::function<Result<std::unique_ptr<io::Source>>(const std::string& path)>;
  explicit FileBlobReader(Open open = io::open_records) : open_(std::move(open)) {}

  // A number for the path. Those of removed files are given out again, but only after
  // kQuarantine others were removed: a reference that somebody still holds finds no file until
  // then, and a checksum afterwards.
  FileId add_file(std::string path);
  void remove_file(FileId file);
  static constexpr size_t kQuarantine = 4096;

  Result<std::string> event(const Reference& where) const override;
  Result<std::string> head(const Reference& where, uint64_t limit) const override;
  std::unique_ptr<Sequence> sequence() const override;

 private:
  Result<std::string> path_of(FileId file) const;

  const Open open_;
  mutable std::mutex mutex_;        // guards: paths_, free_
  std::vector<std::string> paths_;  // by FileId; empty: removed
  std::deque<FileId> free_;         // longest ago first
};

}  // namespace sonde::store
