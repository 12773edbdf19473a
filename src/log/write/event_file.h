// One event file being written: made with a unique name and a header record, appended to with whole
// frames, replaced by a fresh one when it can no longer grow or has been removed under us. A write
// that stops half way (disk full) is continued at the same byte later, so a reader never sees
// anything but whole records and perhaps a tail that is not complete yet.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace sonde::writer {

struct EventFileOptions {
  std::string folder;
  std::string refused;     // why nothing can be written there at all; empty: nothing is wrong
  std::string suffix;      // appended to the file name
  std::string source;      // source_metadata.writer of the header
  bool has_purge = false;  // writes SessionLog START at purge_step after the header
  int64_t purge_step = 0;
  bool whole_second_header = false;    // TensorFlow stamps the header with whole seconds
  std::function<void()> on_open = {};  // a file was made; on the thread that writes
};

class EventFile {
 public:
  explicit EventFile(EventFileOptions options) : options_(std::move(options)) {}
  ~EventFile() { close(); }
  EventFile(const EventFile&) = delete;
  EventFile& operator=(const EventFile&) = delete;

  // Makes the folder and the file if there is none open. Safe to call again after a failure.
  Result<void> open();
  // Appends frames[from..]; returns how far it came. Less than all of it means try again later from
  // there; last_problem() says why.
  size_t append(std::string_view frames, size_t from);
  Result<void> sync();
  void close();
  // `frames` was written up to byte `at` and the rest will never come: cuts the begun frame off.
  void cut_begun_frame(std::string_view frames, size_t at) {
    if (fd_ >= 0) restart_at_frame(frames, at);
  }

  const std::string& path() const { return path_; }
  const Error* last_problem() const { return failed_ ? &problem_ : nullptr; }

 private:
  bool vanished() const;
  size_t restart_at_frame(std::string_view frames, size_t at);
  void note(Error error) {
    problem_ = std::move(error);
    failed_ = true;
  }

  EventFileOptions options_;
  std::string path_;
  int fd_ = -1;
  bool purged_ = false;
  bool failed_ = false;
  Error problem_{Code::kIo, {}};
};

}  // namespace sonde::writer
