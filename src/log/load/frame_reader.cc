#include "log/load/frame_reader.h"

#include <algorithm>
#include <utility>

#include "base/crc32c.h"
#include "log/event/skim.h"

namespace sonde::store {
namespace {

constexpr size_t kWindow = 256 * 1024;
constexpr size_t kPad = 64;             // readable bytes behind the window, for wide loads
constexpr uint64_t kLarge = 16 * 1024;  // below this reading on is cheaper than jumping
constexpr size_t kFrames = 4096;
constexpr uint64_t kProgress = 8 << 20;
constexpr size_t kSkimWindow = 4096;
constexpr size_t kSearchFirst = 16 * 1024, kSearchMost = 1 << 20;
constexpr uint64_t kLargestInflated = 64 << 20;  // searched after damage in a compressed file

constexpr const char* kAdviceWriter =
    "the rest of the file is read; if this repeats, check the disk or the copy that made the file";

}  // namespace

FrameReader::FrameReader(io::Source& source, FileId file, RecordDecoder& sink, Damages& damages)
    : source_(source), file_(file), sink_(sink), damages_(damages), read_size_(kWindow) {}

// Makes the window hold at least `at_least` bytes from `offset`, or all there are.
bool FrameReader::fill(uint64_t offset, size_t at_least) {
  size_t kept = 0;
  if (offset >= window_offset_ && offset - window_offset_ <= window_size_)
    kept = window_size_ - static_cast<size_t>(offset - window_offset_);
  // Between skimmed records the few bytes at hand may do.
  const bool enough = kept >= at_least && read_size_ < kWindow;
  const size_t wanted = enough ? kept : std::max(at_least, read_size(offset));
  if (buffer_.size() < wanted + kPad) buffer_.resize(wanted + kPad);
  if (kept > 0 && offset > window_offset_)
    std::memmove(buffer_.data(), buffer_.data() + (window_size_ - kept), kept);
  if (enough) {
    window_offset_ = offset;
    window_size_ = kept;
    return true;
  }
  read_size_ = std::min(read_size_ * 4, kWindow);  // no longer skimming, it seems
  const auto got = source_.read_at(offset + kept, {buffer_.data() + kept, wanted - kept});
  if (!got) {
    error_ = got.error().text;
    window_size_ = 0;
    return false;
  }
  window_offset_ = offset;
  window_size_ = kept + *got;
  at_end_ = *got < wanted - kept;
  since_progress_ += *got;
  if (since_progress_ >= kProgress && on_progress) {
    since_progress_ = 0;
    on_progress();
  }
  return true;
}

// No more than a little above what the file has: most files are small.
size_t FrameReader::read_size(uint64_t offset) const {
  const uint64_t size = source_.stat().size;
  if (!source_.random_access() || offset > size) return read_size_;
  return static_cast<size_t>(std::min<uint64_t>(read_size_, size - offset + kSkimWindow));
}

bool FrameReader::read(uint64_t position, uint64_t limit) {
  position_ = position;
  tail_.reset();
  error_.clear();
  done_ = false;
  at_end_ = false;
  window_offset_ = position;
  window_size_ = 0;
  while (!done_ && position_ < limit) {
    if (!walk(limit)) return false;
  }
  return true;
}

// The frames of one window, and what stands behind them.
bool FrameReader::walk(uint64_t limit) {
  if (!fill(position_, record::kHeader)) return false;
  const uint64_t base = window_offset_;
  size_t at = 0;
  for (;;) {
    // A compressed source cannot jump: its large records are read like the others.
    const uint64_t large = source_.random_access() ? kLarge : record::kMaxPayload;
    const record::Walk walked = record::walk_frames(window(), at, large, kFrames, frames_);
    size_t mine = frames_.size();
    if (walked.end > 0 && base + walked.end > limit) {  // some are the next piece's
      while (mine > 0 && base + frames_[mine - 1].at - record::kHeader >= limit) --mine;
    }
    sink_.add_all(window(), base, {frames_.data(), mine}, [&](const record::Frame& frame) {
      damages_.add(bad_event(base + frame.at, frame.length));
    });
    if (mine < frames_.size()) {
      position_ = base + frames_[mine].at - record::kHeader;
      return true;
    }
    at = walked.end;
    position_ = base + at;
    if (position_ >= limit) return true;
    switch (walked.stop) {
      case record::Stop::kFull:
        continue;
      case record::Stop::kNeedMore: {
        if (!at_end_) {
          const auto length = record::header_at(window(), at);
          if (!length || at > 0) return true;  // the next window begins here
          // A frame larger than the window: only where the source cannot jump. The window grows
          // with the bytes that are there, never with what the length claims.
          const uint64_t needed = *length + record::kOverhead;
          const size_t step = static_cast<size_t>(std::min<uint64_t>(needed, window_size_ * 2));
          if (!fill(position_, step)) return false;
          continue;
        }
        done_ = true;
        const size_t rest = window_size_ - at;
        if (rest > 0) {
          const auto length = record::header_at(window(), at);
          if (length) return wait_for_rest(*length);
          tail_ = damage("torn_tail", rest, "the last record is incomplete",
                         "nothing to do while the writer runs; after a crash it is lost");
          tail_->severity = Severity::kNote;
        }
        return true;
      }
      case record::Stop::kLarge:
        return enter_large(load<uint64_t>(window(), at));
      case record::Stop::kBadPayload:
        return skip_bad_payload();
      case record::Stop::kBadLength:
        return resynchronise("length_crc", "a record's length does not match its checksum",
                             position_ + 1);
    }
  }
}

bool FrameReader::enter_large(uint64_t length) {
  if (length > record::kMaxPayload)
    return resynchronise("huge_length", "a record claims more than two gigabytes", position_ + 1);
  const uint64_t end = position_ + record::kOverhead + length;
  if (end > source_.stat().size) {
    // The file may have grown since it was opened; then the last byte is there.
    std::byte last;
    const auto got = source_.read_at(end - 1, {&last, 1});
    if (!got) {
      error_ = got.error().text;
      return false;
    }
    if (*got == 0) {
      done_ = true;
      return wait_for_rest(length);
    }
  }
  return skim_large(length);
}

bool FrameReader::skim_large(uint64_t length) {
  const uint64_t payload = position_ + record::kHeader;
  std::vector<std::byte>& scratch = scratch_;
  scratch.clear();
  uint64_t scratch_offset = 0;
  const event::ReadAt read = [&](uint64_t offset, size_t n) -> Result<Bytes> {
    const uint64_t from = payload + offset;
    if (from >= window_offset_ && from + n <= window_offset_ + window_size_)
      return window().subspan(static_cast<size_t>(from - window_offset_), n);
    if (from < scratch_offset || from + n > scratch_offset + scratch.size()) {
      scratch.resize(std::max(n, kSkimWindow));
      scratch_offset = from;
      SONDE_TRY(got, source_.read_at(from, scratch));
      scratch.resize(got);
      if (got < n) return fail(Code::kCorrupt, "the record ends early");
    }
    return Bytes(scratch).subspan(static_cast<size_t>(from - scratch_offset), n);
  };
  if (const auto outline = event::skim(length, read)) {
    sink_.add(*outline, payload, length);
    position_ = payload + length + record::kFooter;
    // The bytes behind the body were read for its metadata and are the next record's head.
    read_size_ = kSkimWindow;
    if (position_ >= scratch_offset && position_ < scratch_offset + scratch.size()) {
      const size_t skip = static_cast<size_t>(position_ - scratch_offset);
      if (buffer_.size() < scratch.size() + kPad) buffer_.resize(scratch.size() + kPad);
      std::memcpy(buffer_.data(), scratch.data() + skip, scratch.size() - skip);
      window_offset_ = position_;
      window_size_ = scratch.size() - skip;
      at_end_ = false;
    }
    return true;
  }
  // Either damaged or unusual: the whole record tells which. It is in the file, so its size is
  // real.
  if (!fill(position_, static_cast<size_t>(length + record::kOverhead))) return false;
  if (window_size_ < length + record::kOverhead) {
    done_ = true;
    return true;  // cut while we looked: the next update sees it
  }
  const Bytes bytes = window().subspan(record::kHeader, static_cast<size_t>(length));
  if (masked_crc32c(bytes) != load<uint32_t>(window(), record::kHeader + bytes.size())) {
    const bool went_on = skip_bad_payload();
    buffer_.resize(kWindow + kPad);
    window_size_ = std::min(window_size_, kWindow);
    return went_on;
  }
  if (!sink_.add(bytes, payload)) {
    damages_.add(bad_event(payload, length));
  }
  position_ = payload + length + record::kFooter;
  window_size_ = 0;
  buffer_.clear();
  buffer_.shrink_to_fit();
  return true;
}

// The length is right, the payload is not. If a frame stands where the length says, one record is
// lost; otherwise the length was luck.
bool FrameReader::skip_bad_payload() {
  const uint64_t start = position_;
  const uint64_t length = load<uint64_t>(window(), static_cast<size_t>(start - window_offset_));
  const uint64_t next = start + record::kOverhead + length;
  std::vector<std::byte> head(record::kHeader);
  const auto got = source_.read_at(next, head);
  if (!got) {
    error_ = got.error().text;
    return false;
  }
  const bool frame_follows = *got == head.size() && record::header_at(head, 0).has_value();
  if (!frame_follows && *got != 0)
    return resynchronise("payload_crc", "a record does not match its checksum",
                         start + record::kHeader);
  damages_.add(damage("payload_crc", length + record::kOverhead,
                      "a record does not match its checksum and is not used", kAdviceWriter));
  position_ = next;
  return true;
}

std::optional<uint64_t> FrameReader::find_intact(uint64_t from, uint64_t before) {
  uint64_t at = from;
  uint64_t incomplete = UINT64_MAX;  // a header whose payload is not there yet
  std::vector<std::byte> payload;
  // Small steps first: most often the next frame is near, and a file may be damaged many times.
  for (size_t step = kSearchFirst;; step = std::min(step * 4, kSearchMost)) {
    if (search_.size() < step) search_.resize(step);
    const std::span<std::byte> window(search_.data(), step);
    const auto got = source_.read_at(at, window);
    if (!got) {
      error_ = got.error().text;
      return std::nullopt;
    }
    const Bytes bytes(window.data(), *got);
    size_t inside = 0;
    while (const auto found = record::find_header(bytes, inside, record::kMaxPayload)) {
      const uint64_t candidate = at + *found;
      if (candidate >= before) break;
      const uint64_t length = load<uint64_t>(bytes, *found);
      Bytes rest = bytes.subspan(*found + record::kHeader);  // payload and checksum
      const bool there = source_.random_access()
                             ? candidate + record::kOverhead + length <= source_.stat().size
                             : length <= kLargestInflated;
      if (rest.size() < length + record::kFooter && there && length <= search_budget_) {
        search_budget_ -= length;
        payload.resize(static_cast<size_t>(length + record::kFooter));
        const auto n = source_.read_at(candidate + record::kHeader, payload);
        rest = Bytes(payload.data(), n ? *n : 0);
      }
      if (rest.size() < length + record::kFooter) {
        incomplete = std::min(incomplete, candidate);
      } else if (masked_crc32c(rest.first(static_cast<size_t>(length))) ==
                 load<uint32_t>(rest, static_cast<size_t>(length))) {
        return candidate;
      }
      inside = *found + 1;
    }
    if (*got < window.size() || at >= before) break;
    at += *got - (record::kHeader - 1);
  }
  searched_to = std::min(at, incomplete);
  return std::nullopt;
}

// Looks for the next intact frame from `from` on. Without one the reader waits at position_: more
// bytes may bring it.
bool FrameReader::resynchronise(const char* kind, const char* what, uint64_t from,
                                uint64_t before) {
  const uint64_t start = position_;
  const auto found = find_intact(std::max(from, searched_to), before);
  if (!error_.empty()) return false;
  if (found) {
    damages_.add(damage(kind, *found - start, what, kAdviceWriter));
    position_ = *found;
    searched_to = 0;
    return true;
  }
  done_ = true;
  const uint64_t size = source_.stat().size;
  tail_ = damage(kind, size > start ? size - start : 0,
                 std::string(what) + ", and no intact record follows",
                 start == 0 ? "this is not an event file, or all of it is damaged"
                            : "nothing more can be read from this file until it grows");
  return true;
}

// A frame with a believable length runs past the end: its writer is still at it, or died. But when
// an intact frame stands in what is there, the length was wrong.
bool FrameReader::wait_for_rest(uint64_t length) {
  const uint64_t start = position_;
  // Only inside the record: what stands behind it was written since, and so was its own rest.
  if (!resynchronise("torn_record", "a record is cut off", start + record::kHeader,
                     start + record::kOverhead + length))
    return false;
  if (position_ != start) {
    done_ = false;
    return true;
  }
  tail_ =
      damage("torn_tail", 0,
             "the last record is incomplete: it should have " + std::to_string(length) + " bytes",
             "nothing to do while the writer runs; after a crash it is lost");
  tail_->severity = Severity::kNote;
  return true;
}

Damage FrameReader::bad_event(uint64_t offset, uint64_t length) const {
  return {.file = file_,
          .offset = offset,
          .length = length,
          .kind = "bad_event",
          .severity = Severity::kLoss,
          .text = "a record with correct checksums is not an event",
          .advice = "the writer wrote something else here; the record is skipped"};
}

Damage FrameReader::damage(const char* kind, uint64_t length, std::string text,
                           std::string advice) const {
  return {.file = file_,
          .offset = position_,
          .length = length,
          .kind = kind,
          .severity = Severity::kLoss,
          .text = std::move(text),
          .advice = std::move(advice)};
}

}  // namespace sonde::store
