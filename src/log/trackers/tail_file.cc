#include "log/trackers/tail_file.h"

#include <algorithm>
#include <utility>

namespace sonde::trackers {
namespace {

constexpr size_t kHeadBytes = 1024;  // a CSV whose header changed is another file
constexpr size_t kTailBytes = 64;

}  // namespace

Result<std::string> TailFile::bytes_at(uint64_t offset, size_t size) {
  std::string bytes(size, '\0');
  SONDE_TRY(got,
            file_->read_at(offset, {reinterpret_cast<std::byte*>(bytes.data()), bytes.size()}));
  bytes.resize(got);
  return bytes;
}

Result<bool> TailFile::open() {
  SONDE_TRY(file, io::File::open(path_));
  file_ = std::make_unique<io::File>(std::move(file));
  const io::FileStat before = std::exchange(stat_, file_->stat());
  if (!std::exchange(was_opened_, true) || position_ == 0) return false;
  bool is_other = !stat_.same_file(before) || stat_.size < position_;
  if (!is_other) {
    SONDE_TRY(head, bytes_at(0, head_.size()));
    SONDE_TRY(tail, bytes_at(position_ - tail_.size(), tail_.size()));
    is_other = head != head_ || tail != tail_;
  }
  if (is_other) position_ = 0;
  return is_other;
}

Result<std::string> TailFile::read(size_t limit) {
  SONDE_TRY(bytes, bytes_at(position_, limit));
  position_ += bytes.size();
  return bytes;
}

void TailFile::close() {
  const auto head = bytes_at(0, static_cast<size_t>(std::min<uint64_t>(kHeadBytes, position_)));
  const auto size = static_cast<size_t>(std::min<uint64_t>(kTailBytes, position_));
  const auto tail = bytes_at(position_ - size, size);
  head_ = head ? *head : "";
  tail_ = tail ? *tail : "";
  file_.reset();
}

void TailFile::rewind() {
  position_ = 0;
  head_.clear();
  tail_.clear();
}

double TailFile::modified() const { return static_cast<double>(stat_.mtime_ns) * 1e-9; }

}  // namespace sonde::trackers
