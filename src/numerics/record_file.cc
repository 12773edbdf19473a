#include "numerics/record_file.h"

#include <fmt/format.h>

#include <algorithm>

namespace sonde::numerics {
namespace {

constexpr size_t kWindow = size_t{4} << 20;
constexpr size_t kFramesAtOnce = 16384;
constexpr size_t kMostDamages = 100;

}  // namespace

void RecordFile::add_damage(uint64_t offset, std::string text) {
  ++damage_count_;
  if (damages_.size() < kMostDamages) damages_.push_back({path_, offset, std::move(text)});
}

bool RecordFile::read_on(const Take& take) {
  const auto stat = io::stat_of(path_);
  if (!stat || !stat->regular) return position_ == 0;
  if (position_ > 0 && (!stat->same_file(stat_) || stat->size < position_)) return false;
  if (*stat == stat_) return true;
  auto source = io::open_records(path_);
  if (!source) {
    add_damage(position_, source.error().text);
    stat_ = *stat;
    return true;
  }
  while (advance(**source, take)) {
  }
  stat_ = (*source)->stat();
  return true;
}

// Reads one window; false at the end of what is there.
bool RecordFile::advance(io::Source& source, const Take& take) {
  std::vector<std::byte> buffer(kWindow);
  auto got = source.read_at(position_, buffer);
  if (!got) {
    add_damage(position_, got.error().text);
    return false;
  }
  buffer.resize(*got);
  const bool at_end = *got < kWindow;
  std::vector<record::Frame> frames, probe;
  size_t at = 0;
  // Goes on with the next intact frame behind `at`, where the window has one.
  const auto resynchronise = [&](const char* why) {
    for (auto next = record::find_header(buffer, at + 1, record::kMaxPayload); next;
         next = record::find_header(buffer, *next + 1, record::kMaxPayload)) {
      record::walk_frames(buffer, *next, record::kMaxPayload, 1, probe);
      if (probe.empty()) continue;
      add_damage(position_ + at, fmt::format("{}: {} bytes skipped", why, *next - at));
      at = *next;
      return true;
    }
    return false;
  };
  while (true) {
    const record::Walk walk =
        record::walk_frames(buffer, at, record::kMaxPayload, kFramesAtOnce, frames);
    if (!frames.empty()) take(buffer, position_, frames);
    at = walk.end;
    if (walk.stop == record::Stop::kFull) continue;
    if (walk.stop == record::Stop::kNeedMore) {
      const auto length = record::header_at(buffer, at);
      if (!length) break;  // not even a header: the rest is awaited
      const uint64_t whole = *length + record::kOverhead;
      const bool is_there = !source.random_access() || position_ + at + whole <= source.stat().size;
      if (!is_there || at_end) {
        if (resynchronise("a record claims more than the file holds")) continue;
        break;
      }
      if (at > 0) break;  // the next window begins with it
      buffer.resize(whole);
      got = source.read_at(position_, buffer);
      if (!got || *got < whole) return false;
      continue;
    }
    if (walk.stop == record::Stop::kBadPayload) {
      const size_t next = at + *record::header_at(buffer, at) + record::kOverhead;
      if (next + record::kHeader > buffer.size() || record::header_at(buffer, next)) {
        add_damage(position_ + at, "a record does not match its checksum: skipped");
        at = next;
        continue;
      }
    }
    if (resynchronise("bytes that are no record")) continue;
    // Nothing in the rest of the window; its last bytes may belong to the next frame.
    if (at_end) break;
    const size_t kept = std::min<size_t>(kWindow / 4, buffer.size() - at - 1);
    add_damage(position_ + at, "bytes that are no record: skipped");
    at = buffer.size() - kept;
    break;
  }
  position_ += at;
  return !at_end && at > 0;
}

Result<Bytes> RecordReads::at(uint64_t offset) {
  if (!source_) {
    SONDE_TRY(opened, io::open_records(path_));
    source_ = std::move(opened);
  }
  constexpr size_t kFirst = 4096;  // most records are read in one go
  const uint64_t begin = offset - record::kHeader;
  buffer_.resize(kFirst);
  SONDE_TRY(got, source_->read_at(begin, buffer_));
  buffer_.resize(got);
  const auto length = record::header_at(buffer_, 0);
  if (!length || *length > record::kMaxPayload)
    return fail(Code::kCorrupt, fmt::format("{}: the record at byte {} has changed", path_, begin));
  const uint64_t whole = *length + record::kOverhead;
  if (whole > got) {
    if (begin + whole > std::max(source_->stat().size, begin + got) && source_->random_access())
      return fail(Code::kCorrupt,
                  fmt::format("{}: the record at byte {} is cut off", path_, begin));
    buffer_.resize(whole);
    SONDE_TRY(rest, source_->read_at(begin, buffer_));
    if (rest < whole)
      return fail(Code::kCorrupt,
                  fmt::format("{}: the record at byte {} is cut off", path_, begin));
  }
  return Bytes(buffer_).subspan(record::kHeader, *length);
}

}  // namespace sonde::numerics
