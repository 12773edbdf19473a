// Turns the checked records of one file (or of one piece of it) into parts: numbers into columns,
// everything else into references. Knows the rules of migration and first metadata; knows neither
// files nor threads.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "log/event/skim.h"
#include "log/event/value.h"
#include "log/load/shortcut.h"
#include "log/model/parallel_for.h"
#include "log/model/part.h"
#include "log/record/frames.h"

namespace sonde::store {

// What an earlier value elsewhere in the run (or later in the file) said about a tag.
using MetadataHints = std::map<std::string, std::shared_ptr<const Metadata>, std::less<>>;

// A SessionLog START: everything before it with a step of at least `step` is superseded.
struct SessionStart {
  Step step = 0;
  std::vector<uint64_t> sizes;  // of each part, in their order, when it came
};

// What a file's events say about the file as a whole.
struct FileFacts {
  uint64_t records = 0;  // good frames
  uint64_t events = 0;   // of them events with something in them
  double first_wall_time = std::numeric_limits<double>::quiet_NaN();
  double min_wall_time = std::numeric_limits<double>::infinity();
  double max_wall_time = -std::numeric_limits<double>::infinity();
  bool has_summary = false;
  double first_summary_time = 0;
  Step first_summary_step = 0;
  Step last_summary_step = 0;
  bool has_version = false;
  double version = -1;
  std::vector<BlobPoint> meta_graphs;

  void append(const FileFacts& later);
};

// What a decoder has made of the beginning of a file, taken from an index.
struct DecodedFile {
  struct TaggedPart {
    std::string tag;
    Part part;  // its tag is set when it is restored
  };
  std::vector<TaggedPart> parts;
  FileFacts facts;
  std::vector<SessionStart> starts;
  uint64_t points = 0, skipped_values = 0;
  std::shared_ptr<const UncheckedColumns> keep;  // what the parts' chunks lie in
};

class RecordDecoder {
 public:
  enum class Use : uint8_t { kEverything, kCountOnly };

  // `seeds` outlives the sink.
  RecordDecoder(FileId file, std::shared_ptr<Memory> memory, const MetadataHints& seeds, Use use);

  // A record whose checksum is right. False when the payload is not an event: nothing was taken.
  bool add(Bytes payload, uint64_t offset);
  // Many records at once: the payloads of `frames` in `window`, which lies at `base` in the file
  // and has 64 readable bytes behind it. Calls bad(frame) for each that is not an event.
  void add_all(Bytes window, uint64_t base, std::span<const record::Frame> frames,
               const std::function<void(const record::Frame&)>& bad);
  // A large record of which only the outline was read.
  void add(const event::Outline& outline, uint64_t offset, uint64_t length);

  // `growth` times as much as so far is about to come, if the file goes on as it began.
  void expect(double growth);
  // For a piece of the same file further on: knows the tags, the forms of their records and the
  // version that this one, which outlives it, has seen, and expects as much.
  std::unique_ptr<RecordDecoder> make_piece() const;
  // To be called when no record follows for now.
  void rest();
  // Of a decoder that has seen nothing: goes on behind what another one found earlier.
  void restore(DecodedFile&& earlier);

  // Puts a piece of the same file, made here and read on from where this one stands, behind it.
  void append(RecordDecoder&& later, const ParallelFor& help);

  std::deque<Part>& parts() {
    settle();
    return parts_;
  }
  size_t part_count() const { return parts_.size(); }
  const std::shared_ptr<FileColumns>& columns() const { return columns_; }
  const FileFacts& facts() const { return facts_; }
  const std::vector<SessionStart>& starts() const { return starts_; }
  // Tags whose first values came before their metadata and were taken for something else: the file
  // has to be read again with these.
  const MetadataHints& late() const { return late_; }
  uint64_t points() const { return points_; }
  uint64_t skipped_values() const { return skipped_values_; }

 private:
  struct Place {  // of the event whose values are being added
    double wall_time;
    Step step;
    uint64_t offset, length;
  };
  void note_event(double wall_time, Step step, event::What what);
  void add_start(Step step);
  void add_value(const event::ValueView& value, const Place& place, uint32_t index, bool outline);
  size_t add_alike(Bytes window, std::span<const record::Frame> frames);
  // Points that came through the short cut are counted there: the parts are told by these.
  void settle();
  void settle(uint32_t part);
  void append_starts(const RecordDecoder& later);
  uint32_t part_for(const event::ValueView& value);
  void learn(Part& part, const event::ValueView& value);
  bool add_number(Part& part, const event::ValueView& value, const Place& place, bool outline);
  BlobPoint reference(const Place& place, uint32_t index) const;

  FileId file_;
  const MetadataHints& seeds_;
  Use use_;
  std::shared_ptr<FileColumns> columns_;
  Bump bump_;
  std::deque<Part> parts_;
  size_t inherited_ = 0;  // of them, the first ones: the same tags as in the sink that made this
  boost::unordered_flat_map<std::string_view, uint32_t> by_tag_;
  // Equal metadata is kept once: writers repeat it for every tag.
  std::vector<std::shared_ptr<const Metadata>> metadata_;
  FileFacts facts_;
  std::vector<SessionStart> starts_;
  MetadataHints late_;
  uint64_t points_ = 0;
  uint64_t skipped_values_ = 0;
  Shortcut shortcut_;
  uint32_t last_part_ = Shortcut::kNone;    // the part of the last number that was added
  uint32_t number_part_ = Shortcut::kNone;  // set by add_number during one event
  bool legacy_cut_ = false;  // the event being added went back in a file of an old version
};

}  // namespace sonde::store
