// A run of another tracker as the bytes of an event file, made while they are read: the store's
// loaders and blob readers need not know that there is no such file. Numbers are forgotten once
// they were read (the store has them in columns); texts and hyperparameters stay.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "log/trackers/run_reader.h"

namespace sonde::trackers {

class RunStream final : private RunSink, public std::enable_shared_from_this<RunStream> {
 public:
  explicit RunStream(std::unique_ptr<RunReader> reader) : reader_(std::move(reader)) {}

  // The bytes as they are now; looks at the file first. Thread-safe, as everything here.
  Result<std::unique_ptr<io::Source>> open();
  // Of the files on disk; the inode tells one reading from the beginning from the next.
  Result<io::FileStat> stat() const;

 private:
  class StreamSource;

  void number(std::string_view tag, Step step, double wall_time, double value) override;
  void text(std::string_view tag, Step step, double wall_time, std::string_view text) override;
  void started(double wall_time) override { start_ = wall_time; }
  void ended(End how, double wall_time) override;
  void restart() override;
  bool full() const override;

  Result<size_t> read_at(uint64_t offset, std::span<std::byte> into);
  Result<void> look();
  void begin_again();
  void clear();
  void preamble(double wall_time);
  void put_event(double wall_time, Step step, uint32_t field, std::string_view bytes);
  std::string_view bytes_from(uint64_t offset) const;
  Result<io::FileStat> marked_stat() const;

  mutable std::mutex mutex_;  // guards: everything below
  const std::unique_ptr<RunReader> reader_;
  uint64_t generation_ = 0;
  std::string window_;                    // the newest bytes
  uint64_t window_begin_ = 0;             // where they stand in the stream
  std::map<uint64_t, std::string> kept_;  // records that are no numbers, by their place
  Config written_config_;                 // of the preamble
  bool has_preamble_ = false;
  bool ended_ = false;
  bool more_ = false;
  double start_ = 0;
};

}  // namespace sonde::trackers
