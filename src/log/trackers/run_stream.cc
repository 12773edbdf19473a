#include "log/trackers/run_stream.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "codec/wire.h"
#include "log/write/frame.h"
#include "log/write/scalar_record.h"
#include "sonde/summary.h"

namespace sonde::trackers {
namespace {

constexpr size_t kFullBytes = 8 << 20;     // a reader pauses here until somebody has read
constexpr size_t kBehindBytes = 64 << 10;  // stays readable behind the newest read
constexpr size_t kMaxTag = 4096;
constexpr size_t kMaxText = 16 << 20;
constexpr uint32_t kEventFileVersion = 3, kEventSummary = 5;

double finite_time(double wall_time) {
  return std::isfinite(wall_time) && std::abs(wall_time) < 1e12 ? wall_time : 0;
}

}  // namespace

class RunStream::StreamSource final : public io::Source {
 public:
  StreamSource(std::shared_ptr<RunStream> stream, io::FileStat stat)
      : stream_(std::move(stream)), stat_(stat) {}
  Result<size_t> read_at(uint64_t offset, std::span<std::byte> into) override {
    const std::lock_guard lock(stream_->mutex_);
    return stream_->read_at(offset, into);
  }
  bool random_access() const override { return false; }
  const io::FileStat& stat() const override { return stat_; }

 private:
  std::shared_ptr<RunStream> stream_;
  io::FileStat stat_;
};

Result<std::unique_ptr<io::Source>> RunStream::open() {
  const std::lock_guard lock(mutex_);
  // Before the look: what comes after it changes the stat and is looked at next time.
  SONDE_TRY(disk, reader_->stat());
  if (auto looked = look(); !looked) return fail(looked.error());
  SONDE_TRY(now, marked_stat());
  disk.inode = now.inode;
  return std::unique_ptr<io::Source>(std::make_unique<StreamSource>(shared_from_this(), disk));
}

Result<io::FileStat> RunStream::stat() const {
  const std::lock_guard lock(mutex_);
  return marked_stat();
}

Result<io::FileStat> RunStream::marked_stat() const {
  SONDE_TRY(stat, reader_->stat());
  stat.inode ^= generation_ << 40;
  return stat;
}

// Takes what is new, as far as there is room for it.
Result<void> RunStream::look() {
  if (full()) return {};
  SONDE_TRY(more, reader_->read(*this));
  if (has_preamble_ && reader_->config() != written_config_) {
    // It stands before the numbers, so everything is said once more, knowing it.
    ++generation_;
    begin_again();
    SONDE_TRY(again, reader_->read(*this));
    more = again;
  }
  if (!has_preamble_ && (!reader_->config().empty() || start_ != 0)) preamble(start_);
  more_ = more;
  return {};
}

void RunStream::begin_again() {
  reader_->rewind();
  clear();
}

void RunStream::restart() {
  if (has_preamble_) ++generation_;
  clear();
}

void RunStream::clear() {
  window_.clear();
  window_begin_ = 0;
  kept_.clear();
  has_preamble_ = ended_ = more_ = false;
}

bool RunStream::full() const { return window_.size() >= kFullBytes; }

std::string_view RunStream::bytes_from(uint64_t offset) const {
  if (offset >= window_begin_) {
    const uint64_t at = offset - window_begin_;
    return at < window_.size() ? std::string_view(window_).substr(static_cast<size_t>(at))
                               : std::string_view();
  }
  auto kept = kept_.upper_bound(offset);
  if (kept == kept_.begin()) return {};
  --kept;
  const uint64_t at = offset - kept->first;
  return at < kept->second.size() ? std::string_view(kept->second).substr(static_cast<size_t>(at))
                                  : std::string_view();
}

Result<size_t> RunStream::read_at(uint64_t offset, std::span<std::byte> into) {
  if (offset == 0 && window_begin_ > 0) {
    // Somebody reads from the beginning again. The same bytes are made anew.
    begin_again();
    if (auto looked = look(); !looked) return fail(looked.error());
  }
  size_t done = 0;
  while (done < into.size()) {
    const uint64_t at = offset + done;
    const std::string_view found = bytes_from(at);
    if (found.empty()) {
      if (!more_ || at < window_begin_) break;
      const uint64_t end = window_begin_ + window_.size();
      if (end - window_begin_ > kBehindBytes) {
        window_.erase(0, window_.size() - kBehindBytes);
        window_begin_ = end - kBehindBytes;
      }
      if (auto looked = look(); !looked) return fail(looked.error());
      continue;
    }
    const size_t n = std::min(found.size(), into.size() - done);
    std::memcpy(into.data() + done, found.data(), n);
    done += n;
  }
  // What was read and is far behind is not needed again, but for texts.
  const uint64_t end = offset + done;
  if (!more_ && end == window_begin_ + window_.size() && window_.size() > 2 * kBehindBytes) {
    window_.erase(0, window_.size() - kBehindBytes);
    window_.shrink_to_fit();
    window_begin_ = end - kBehindBytes;
  }
  return done;
}

void RunStream::put_event(double wall_time, Step step, uint32_t field, std::string_view bytes) {
  std::string event;
  wire::Encoder out(event);
  out.real(1, finite_time(wall_time));
  if (step != 0) out.varint(2, static_cast<uint64_t>(step));
  out.bytes(field, bytes);
  const size_t at = window_.size();
  window_.resize(at + writer::kFrameHead + event.size() + writer::kFrameTail);
  std::memcpy(window_.data() + at + writer::kFrameHead, event.data(), event.size());
  writer::frame(window_.data() + at, event.size());
  kept_.emplace(window_begin_ + at, window_.substr(at));
}

void RunStream::preamble(double wall_time) {
  has_preamble_ = true;
  put_event(wall_time, 0, kEventFileVersion, "brain.Event:2");
  written_config_ = reader_->config();
  if (written_config_.empty()) return;
  SessionStart session;
  session.start_secs = finite_time(start_ != 0 ? start_ : wall_time);
  for (const auto& [name, value] : written_config_) session.hparams.emplace_back(name, value);
  put_event(wall_time, 0, kEventSummary, summary::session_start(session).bytes);
}

void RunStream::number(std::string_view tag, Step step, double wall_time, double value) {
  if (tag.empty() || tag.size() > kMaxTag) return;
  if (!has_preamble_) preamble(start_ != 0 ? start_ : wall_time);
  const writer::ScalarRecord record(tag, step, value);
  const size_t at = window_.size();
  window_.resize(at + writer::kFrameHead + record.size() + writer::kFrameTail);
  record.write(window_.data() + at + writer::kFrameHead, finite_time(wall_time));
  writer::frame(window_.data() + at, record.size());
}

void RunStream::text(std::string_view tag, Step step, double wall_time, std::string_view text) {
  if (tag.empty() || tag.size() > kMaxTag) return;
  if (!has_preamble_) preamble(start_ != 0 ? start_ : wall_time);
  const Summary made = summary::text(tag, text.substr(0, kMaxText));
  if (made.ok()) put_event(wall_time, step, kEventSummary, made.bytes);
}

void RunStream::ended(End how, double wall_time) {
  if (std::exchange(ended_, true)) return;
  if (!has_preamble_) preamble(start_ != 0 ? start_ : wall_time);
  if (written_config_.empty()) return;  // without a session there is nothing to end
  const auto status = how == End::kFinished ? SessionStatus::kSuccess : SessionStatus::kFailure;
  put_event(wall_time, 0, kEventSummary,
            summary::session_end(status, finite_time(wall_time)).bytes);
}

}  // namespace sonde::trackers
