// Reads events of a trace ahead of the one thread that builds it: other threads parse pieces of the
// text that begin where a line looks like an event. A guess may be wrong (a string can hold
// anything), so a piece counts only when the reader, coming from the front, arrives exactly at its
// beginning; otherwise it is dropped and read again in order. The result is the same with and
// without.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "base/thread_pool.h"
#include "capture/import/chrome_json/event.h"

namespace sonde::imports {

struct ReadAhead {
  size_t begin = 0, end = 0;  // of the text; equal when nothing could be read
  struct Event {
    ChromeEvent event;
    size_t at;
    uint32_t first_arg, args;
  };
  std::vector<Event> events;
  std::vector<ChromeArg> args;
};

class LookaheadScanner {
 public:
  LookaheadScanner(std::string_view text, ThreadPool* pool);  // null: nothing is read ahead
  ~LookaheadScanner();

  // The piece that begins at `at`, or null. Positions come in ascending order; the piece stays
  // valid until the next call.
  const ReadAhead* piece_at(size_t at);

 private:
  struct Slot;
  void start_more();

  std::string_view text_;
  ThreadPool* pool_;
  size_t next_ = 0;  // number of the piece to start next
  std::deque<std::shared_ptr<Slot>> under_way_;
  std::shared_ptr<Slot> current_;
  std::vector<ReadAhead> spare_;  // memory of pieces that were taken, for those to come
};

}  // namespace sonde::imports
