// Where records go: callers append finished frames to a buffer in memory, one thread a sink writes
// the buffer to the event file. A call never waits for the disk unless the buffer is full.
//
// The promises: what was handed over reaches the kernel within `flush_interval_s` (at once when the
// sink was idle, and whenever a megabyte is waiting), so SIGKILL loses at most that interval;
// flush() returns after write(). When the disk refuses, records are kept up to max_buffer_bytes and
// written when it recovers; beyond that new ones are counted as dropped. What the disk has not
// taken when the sink is closed is lost: counted as dropped too, and said in one sentence. A full
// buffer with a healthy disk makes the caller wait or drops, by choice. After fork() the child
// starts a file of its own and leaves the parent's alone. Thread-safe.
#pragma once

#include <pthread.h>

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "log/write/event_file.h"
#include "log/write/frame.h"
#include "log/write/wall_clock.h"

namespace sonde::writer {

enum class WhenFull : uint8_t { kWait, kDrop };

struct SinkOptions {
  EventFileOptions file;
  double flush_interval_s = 1;
  size_t max_buffer_bytes = size_t{64} << 20;
  WhenFull when_full = WhenFull::kWait;
  std::function<void(const std::string&)>
      on_problem;  // called once a problem, on the sink's thread
  // How a caller waits for room: must call its argument, without a lock of ours held around it.
  std::function<void(const std::function<void()>&)> wait_with;
};

struct SinkState {
  uint64_t records = 0;        // handed over and kept
  uint64_t bytes = 0;          // of their frames
  uint64_t written_bytes = 0;  // of them in the kernel's hands
  uint64_t dropped = 0;  // records that found no room, or that the disk did not take until close()
  std::string problem;   // empty when all is well
};

class Sink {
 public:
  explicit Sink(SinkOptions options);
  ~Sink();
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;

  // Makes the file now instead of with the first record; a failure is a state, not an end.
  void open();

  // Appends one record of `length` payload bytes, filled in by fill(char*, WallClock&). False when
  // dropped.
  template <class Fill>
  bool append(size_t length, Fill&& fill) {
    const size_t size = kFrameHead + length + kFrameTail;
    std::unique_lock lock(mutex_);
    if (!running_ || buffer_.size + size > soft_limit_) {
      if (!make_room(lock, size)) return false;
    }
    char* at = buffer_.grow(size);
    fill(at + kFrameHead, clock_);
    frame(at, length);
    ++records_;
    appended_ += size;
    if (buffer_.size == size || (buffer_.size >= kUrgentBytes && !writing_ && !urgent_))
      wake(buffer_.size >= kUrgentBytes);
    return true;
  }
  bool append(std::string_view payload) {
    return append(payload.size(), [&](char* at, WallClock&) { payload.copy(at, payload.size()); });
  }

  // True when everything appended before the call has been written (and, if asked, synced).
  enum class Sync : uint8_t { kNo, kYes };
  bool flush(Sync sync = Sync::kNo);
  // Flushes, syncs and closes the file. A later append opens a new one.
  void close();

  SinkState state() const;
  std::string path() const;  // of the current file; empty before there is one
  const std::string& folder() const { return options_.file.folder; }

 private:
  static constexpr size_t kUrgentBytes = size_t{1} << 20;

  struct Buffer {
    std::unique_ptr<char[]> data;
    size_t size = 0, capacity = 0;
    char* grow(size_t more) {
      if (size + more > capacity) enlarge(size + more);
      char* at = data.get() + size;
      size += more;
      return at;
    }
    void enlarge(size_t needed);
    std::string_view view() const { return {data.get(), size}; }
  };

  bool make_room(std::unique_lock<std::mutex>& lock, size_t size);
  void start();
  void stop(std::unique_lock<std::mutex>& lock);
  void wake(bool urgent);
  void run();
  void write_chunk(std::unique_lock<std::mutex>& lock);
  void report(const std::string& problem);
  void give_up_unwritten(std::unique_lock<std::mutex>& lock);
  static void* run_thread(void* self);

  friend struct ForkGuard;
  void before_fork() { mutex_.lock(); }
  void after_fork_in_parent() { mutex_.unlock(); }
  void after_fork_in_child();

  SinkOptions options_;

  mutable std::mutex mutex_;  // guards everything below but file_ while writing_
  std::condition_variable work_;
  std::condition_variable done_;
  WallClock clock_;
  Buffer buffer_;  // what callers append to
  Buffer chunk_;   // what the thread is writing
  size_t chunk_done_ = 0;
  uint64_t chunk_base_ = 0;  // written_ when chunk_ was begun
  size_t soft_limit_ = 0;
  uint64_t records_ = 0, appended_ = 0, written_ = 0, dropped_ = 0;
  uint64_t told_lost_ = 0;  // dropped_ when the loss was last said
  uint64_t attempts_ = 0;   // rounds of writing that ended, well or not
  bool running_ = false;    // the thread exists
  bool stopping_ = false;
  bool writing_ = false;
  bool urgent_ = false;
  bool sync_wanted_ = false;
  bool failing_ = false;
  bool reported_ = false;
  std::string problem_;
  std::string path_;
  pthread_t thread_{};
  std::unique_ptr<EventFile> file_;
};

}  // namespace sonde::writer
