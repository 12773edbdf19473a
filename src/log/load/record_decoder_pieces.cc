// How a huge file is read in pieces: what a piece begins with, and how it is put behind the one
// before.
#include <algorithm>
#include <utility>

#include "log/load/record_decoder.h"

namespace sonde::store {
namespace {

// A tag that stays away after all has room for so many numbers too much: 2 KB.
constexpr double kMostExpected = 96, kSureShare = 0.75;

}  // namespace

void FileFacts::append(const FileFacts& later) {
  if (events == 0) first_wall_time = later.first_wall_time;
  records += later.records;
  events += later.events;
  min_wall_time = std::min(min_wall_time, later.min_wall_time);
  max_wall_time = std::max(max_wall_time, later.max_wall_time);
  if (later.has_summary) {
    if (!has_summary) {
      first_summary_time = later.first_summary_time;
      first_summary_step = later.first_summary_step;
    }
    has_summary = true;
    last_summary_step = later.last_summary_step;
  }
  if (later.has_version) {
    has_version = true;
    version = later.version;
  }
  meta_graphs.insert(meta_graphs.end(), later.meta_graphs.begin(), later.meta_graphs.end());
}

void RecordDecoder::expect(double growth) {
  settle();
  for (Part& part : parts_) {
    const double points = static_cast<double>(part.numbers()) * growth;
    part.expected = static_cast<uint32_t>(std::min(points * kSureShare, kMostExpected));
  }
}

std::unique_ptr<RecordDecoder> RecordDecoder::make_piece() const {
  auto piece = std::make_unique<RecordDecoder>(file_, columns_->shared_memory(), seeds_, use_);
  for (const Part& part : parts_) {
    Part& mine = piece->parts_.emplace_back();
    mine.tag = part.tag;
    mine.metadata = part.metadata;
    mine.is_scalar = part.is_scalar;
    mine.expected = part.expected;
  }
  piece->inherited_ = parts_.size();
  piece->by_tag_ = by_tag_;
  piece->metadata_ = metadata_;
  piece->facts_.version = facts_.version;
  piece->shortcut_ = shortcut_.forms();
  return piece;
}

void RecordDecoder::append_starts(const RecordDecoder& later) {
  for (const SessionStart& start : later.starts_) {
    SessionStart moved{start.step, {}};
    for (const Part& part : parts_) moved.sizes.push_back(part.size());
    for (size_t i = 0; i < start.sizes.size(); ++i) {
      const Part& from = later.parts_[i];
      const auto found = by_tag_.find(from.tag);
      if (found != by_tag_.end()) moved.sizes[found->second] += start.sizes[i];
      // A tag that is new in this piece has no position here yet: its points before the START are
      // those of the piece, kept under the index it will get below.
      else
        moved.sizes.push_back(start.sizes[i]);
    }
    starts_.push_back(std::move(moved));
  }
}

void RecordDecoder::append(RecordDecoder&& later, const ParallelFor& help) {
  settle();
  later.settle();
  shortcut_.forget();
  last_part_ = Shortcut::kNone;
  append_starts(later);
  const auto add = [](Part& mine, Part& part) {
    if (mine.is_scalar != part.is_scalar) return false;
    mine.append(std::move(part));
    return true;
  };
  help.for_ranges(later.inherited_, [&](size_t begin, size_t end) {
    // Both began as the same kind, and a part's kind never changes.
    for (size_t i = begin; i < end; ++i) add(parts_[i], later.parts_[i]);
  });
  for (size_t i = later.inherited_; i < later.parts_.size(); ++i) {
    Part& part = later.parts_[i];
    if (const auto found = by_tag_.find(part.tag); found != by_tag_.end()) {
      Part& mine = parts_[found->second];
      // When the pieces disagree about what the tag is the earlier one is right: read again.
      if (!add(mine, part))
        late_.emplace(std::string(mine.tag), mine.metadata ? mine.metadata : part.metadata);
    } else {
      part.tag = columns_->keep_tag(part.tag);
      by_tag_.emplace(part.tag, static_cast<uint32_t>(parts_.size()));
      parts_.push_back(std::move(part));
    }
  }
  late_.insert(later.late_.begin(), later.late_.end());
  columns_->absorb(*later.columns_);
  facts_.append(later.facts_);
  points_ += later.points_;
  skipped_values_ += later.skipped_values_;
}

void RecordDecoder::restore(DecodedFile&& earlier) {
  for (auto& [tag, part] : earlier.parts) {
    part.tag = columns_->keep_tag(tag);
    by_tag_.emplace(part.tag, static_cast<uint32_t>(parts_.size()));
    parts_.push_back(std::move(part));
  }
  columns_->keep(std::move(earlier.keep));
  facts_ = std::move(earlier.facts);
  starts_ = std::move(earlier.starts);
  points_ = earlier.points;
  skipped_values_ = earlier.skipped_values;
}

}  // namespace sonde::store
