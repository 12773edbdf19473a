// A mapped file that is cut by somebody else ends a process by SIGBUS at the first page beyond its
// new end. Ranges registered here survive that: the missing page reads as zeros and the range is
// marked, so that its reader can say that the file was cut instead of believing the zeros.
#pragma once

#include <cstddef>

namespace sonde::io {

class FaultGuard {
 public:
  FaultGuard() = default;
  // False when there is no place left (kMaxGuarded ranges at a time): the range must not be used.
  bool guard(const void* begin, size_t size);
  FaultGuard(FaultGuard&& other) noexcept;
  FaultGuard& operator=(FaultGuard&&) = delete;
  ~FaultGuard() { release(); }
  void release();  // before the range is unmapped

  // Whether a page of the range was missing when it was read.
  bool has_faulted() const;

  static constexpr int kMaxGuarded = 4096;

 private:
  int slot_ = -1;
};

}  // namespace sonde::io
