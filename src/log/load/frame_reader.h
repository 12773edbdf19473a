// Walks the frames of a source from a position and hands each intact record to a sink: windows,
// large records by their outline, resynchronisation after damage. It stops where it cannot go on
// for now and says why.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "io/file.h"
#include "log/load/record_decoder.h"
#include "log/record/frames.h"

namespace sonde::store {

struct Damages {
  static constexpr size_t kMaxListed = 100;
  std::vector<Damage> list;
  uint64_t count = 0;

  void add(Damage damage) {
    ++count;
    if (list.size() < kMaxListed) list.push_back(std::move(damage));
  }
};

class FrameReader {
 public:
  FrameReader(io::Source& source, FileId file, RecordDecoder& sink, Damages& damages);

  // Reads from `position` while frames begin before `limit`. Returns false when the source cannot
  // be read (error() says why); otherwise position() is where the next frame begins or is awaited.
  bool read(uint64_t position, uint64_t limit);

  // The first offset in [from, before) at which an intact frame begins; nothing when there is none.
  // Also nothing when the source cannot be read: error() is set then.
  std::optional<uint64_t> find_intact(uint64_t from, uint64_t before = UINT64_MAX);

  // Called about every 8 MB.
  std::function<void()> on_progress;
  // Where the search for a good frame after `position` may begin (nothing good was before).
  uint64_t searched_to = 0;

  uint64_t position() const { return position_; }
  const std::optional<Damage>& tail() const { return tail_; }  // what is wrong at the end, if so
  const std::string& error() const { return error_; }
  uint64_t end_of_source() const { return window_offset_ + window_size_; }

 private:
  bool fill(uint64_t offset, size_t at_least);
  size_t read_size(uint64_t offset) const;
  Bytes window() const { return {buffer_.data(), window_size_}; }
  bool walk(uint64_t limit);
  bool enter_large(uint64_t length);
  bool skim_large(uint64_t length);
  bool skip_bad_payload();
  bool resynchronise(const char* kind, const char* what, uint64_t from,
                     uint64_t before = UINT64_MAX);
  bool wait_for_rest(uint64_t length);
  Damage bad_event(uint64_t offset, uint64_t length) const;
  Damage damage(const char* kind, uint64_t length, std::string text, std::string advice) const;

  io::Source& source_;
  FileId file_;
  RecordDecoder& sink_;
  Damages& damages_;
  std::vector<std::byte> buffer_;
  std::vector<std::byte> scratch_;  // parts of a skimmed record
  std::vector<std::byte> search_;   // bytes behind a damaged place
  // Payloads that may be read only to find out whether a header is one: a file full of headers that
  // claim megabytes must not cost its size squared.
  uint64_t search_budget_ = uint64_t{1} << 30;
  uint64_t window_offset_ = 0;
  size_t window_size_ = 0;
  size_t read_size_;     // of the next read: small while records are skimmed
  bool at_end_ = false;  // the window reaches the end of the source
  bool done_ = false;
  uint64_t position_ = 0;
  uint64_t since_progress_ = 0;
  std::vector<record::Frame> frames_;
  std::optional<Damage> tail_;
  std::string error_;
};

}  // namespace sonde::store
