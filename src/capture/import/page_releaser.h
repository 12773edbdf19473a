// Lets go of a mapped file behind a reader that moves through it: the pages of a capture would
// otherwise stay in memory beside everything that is made of them.
#pragma once

#include <functional>

#include "base/bytes.h"

namespace sonde::imports {

// Told that a part of the file was read and is not needed for a while. It can still be read again.
using PartRead = std::function<void(Bytes)>;

class PageReleaser {
 public:
  PageReleaser(const PartRead& part_read, const std::byte* begin)
      : part_read_(part_read), begin_(begin) {}
  explicit PageReleaser(const PartRead& part_read, Bytes part)
      : PageReleaser(part_read, part.data()) {}

  // The reader has arrived at `at`; places behind it that come late are passed over.
  void reached(const std::byte* at) {
    if (part_read_ && at > begin_ && static_cast<size_t>(at - begin_) >= kStride) leave(at);
  }
  // The reader is done, having arrived at `end`.
  void finish(const std::byte* end) {
    if (part_read_ && end > begin_) leave(end);
  }

 private:
  static constexpr size_t kStride = size_t{4} << 20;
  void leave(const std::byte* at) {
    part_read_({begin_, at});
    begin_ = at;
  }

  const PartRead& part_read_;  // outlives the trail: both live in the reading of one file
  const std::byte* begin_;
};

}  // namespace sonde::imports
