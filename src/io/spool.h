// An upload on its way: written to a file as it arrives, read as bytes when it is whole. The file
// has no name, so nobody else can touch it and it is gone with its last user, however the process
// ends. All uploads of a server share one quota and leave the disk some room.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"

namespace sonde::io {

// Bytes that the uploads under way may take together, and that they leave free on the disk.
struct SpoolQuota {
  explicit SpoolQuota(uint64_t bytes = uint64_t{4} << 30, uint64_t free_bytes = uint64_t{256} << 20)
      : most(bytes), min_free(free_bytes) {}
  const uint64_t most, min_free;
  std::atomic<uint64_t> used{0};
};

class Spool {
 public:
  // In `folder`, or in spool_folder() when it is empty. `quota` outlives the spool.
  explicit Spool(SpoolQuota& quota, std::string folder = "");
  ~Spool();
  Spool(const Spool&) = delete;
  Spool& operator=(const Spool&) = delete;

  // kTooLarge when the quota or the disk has no room for more; kIo when the file cannot be written.
  Result<void> append(std::string_view piece);
  uint64_t size() const { return size_ + buffer_.size(); }

  // Everything that was appended. Call once all of it was, and from one thread at a time.
  Result<Bytes> bytes();

 private:
  Result<void> flush();

  SpoolQuota& quota_;
  std::string folder_;
  std::string buffer_;  // not yet written
  int fd_ = -1;
  uint64_t size_ = 0, reserved_ = 0, checked_ = 0;
  const std::byte* data_ = nullptr;
};

// $TMPDIR, or /var/tmp, which is on a disk as a rule, or /tmp.
std::string spool_folder();

}  // namespace sonde::io
