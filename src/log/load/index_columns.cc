#include "log/load/index_columns.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <unordered_map>

#include "base/crc32c.h"
#include "base/log.h"

namespace sonde::store {
namespace {

// Copies the points [first, first + to.size) of a part; false when it does not hold them.
bool copy_points(const Part& part, uint64_t first, const Chunk& to) {
  const size_t width = width_of(to.type);
  uint64_t begin = 0;
  uint32_t done = 0;
  for (const Chunk& chunk : part.chunks) {
    const uint64_t wanted = first + done;
    if (done < to.size && wanted >= begin && wanted < begin + chunk.size) {
      if (chunk.type != to.type) return false;
      const auto skip = static_cast<size_t>(wanted - begin);
      const auto n = static_cast<uint32_t>(std::min<uint64_t>(to.size - done, chunk.size - skip));
      std::copy_n(chunk.steps() + skip, n, to.steps() + done);
      std::copy_n(chunk.wall_times() + skip, n, to.wall_times() + done);
      std::memcpy(to.values() + width * done, chunk.values() + width * skip, width * n);
      done += n;
    }
    begin += chunk.size;
  }
  return done == to.size;
}

}  // namespace

Bytes IndexColumns::Piece::bytes() const {
  return {chunk.columns, chunk.size * (16 + width_of(chunk.type))};
}

void IndexColumns::add(const Chunk& chunk, const std::string& tag, uint64_t first,
                       uint32_t checksum) {
  if (tags_.empty() || tags_.back() != tag) tags_.push_back(tag);
  const Piece piece{chunk, static_cast<uint32_t>(tags_.size() - 1), first, checksum};
  is_good_.emplace_back(false);
  // Written in the order of the description: almost always the end.
  const auto at = std::ranges::upper_bound(pieces_, chunk.columns, std::less<>(),
                                           [](const Piece& one) { return one.chunk.columns; });
  pieces_.insert(at, piece);
}

void IndexColumns::check(const std::byte* columns) const {
  const auto found = std::ranges::lower_bound(pieces_, columns, std::less<>(),
                                              [](const Piece& one) { return one.chunk.columns; });
  if (found == pieces_.end() || found->chunk.columns != columns) return;  // read since
  auto& is_good = is_good_[static_cast<size_t>(found - pieces_.begin())];
  if (is_good.load(std::memory_order_acquire)) return;
  if (masked_crc32c(found->bytes()) == found->checksum) {
    is_good.store(true, std::memory_order_release);
  } else {
    repair();
  }
}

// All that is damaged at once: the event file is read from its beginning for any of it.
void IndexColumns::repair() const {
  const std::lock_guard lock(mutex_);
  std::vector<size_t> bad;
  for (size_t i = 0; i < pieces_.size(); ++i) {
    if (is_good_[i].load(std::memory_order_acquire)) continue;
    if (masked_crc32c(pieces_[i].bytes()) == pieces_[i].checksum) {
      is_good_[i].store(true, std::memory_order_release);
    } else {
      bad.push_back(i);
    }
  }
  if (bad.empty()) return;  // another thread was here
  log::warn("{}: the index is damaged; reading the event file again", path_);
  ::unlink(path_.c_str());  // the next start writes another
  mapped_->allow_writing();
  std::unordered_map<std::string_view, const Part*> parts;
  auto decoder = reread_ ? reread_() : fail(Code::kNotFound, "it cannot be read again");
  if (decoder) {
    for (const Part& part : (*decoder)->parts()) parts.emplace(part.tag, &part);
  } else {
    log::warn("{}: {}", path_, decoder.error().text);
  }
  for (const size_t i : bad) {
    const auto from = parts.find(tags_[pieces_[i].tag]);
    restore(pieces_[i], from == parts.end() ? nullptr : from->second);
    is_good_[i].store(true, std::memory_order_release);
  }
}

// When the event file is another one by now, the next look at it replaces all of this; until then
// there are no numbers rather than wrong ones.
void IndexColumns::restore(const Piece& piece, const Part* from) const {
  const Chunk& chunk = piece.chunk;
  if (from && copy_points(*from, piece.first, chunk)) return;
  log::warn("{}: points of '{}' are lost until the file is read again", path_, tags_[piece.tag]);
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  std::memset(chunk.columns, 0, piece.bytes().size());
  std::fill_n(chunk.wall_times(), chunk.size, kNone);
  if (chunk.type == ValueType::kFloat64)
    std::fill_n(reinterpret_cast<double*>(chunk.values()), chunk.size, kNone);
  if (chunk.type == ValueType::kFloat32)
    std::fill_n(reinterpret_cast<float*>(chunk.values()), chunk.size, static_cast<float>(kNone));
}

}  // namespace sonde::store
