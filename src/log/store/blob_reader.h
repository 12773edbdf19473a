// Reads what references point to, from the files as they are now. Checks the record's checksum
// first: the file may have been replaced since it was loaded, and a skimmed record was never
// checked.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "log/model/snapshot.h"

namespace sonde::store {

// Thread-safe.
class FileBlobReader final : public BlobReader {
 public:
  // The path behind the next FileId.
  FileId add_file(std::string path);

  Result<std::string> event(const Reference& where) const override;
  Result<std::string> head(const Reference& where, uint64_t limit) const override;
  std::unique_ptr<Sequence> sequence() const override;

 private:
  Result<std::string> path_of(FileId file) const;

  mutable std::mutex mutex_;  // guards: paths_
  std::vector<std::string> paths_;
};

}  // namespace sonde::store
