#include "log/load/file_loader.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/log.h"
#include "log/load/frame_reader.h"
#include "log/load/index_file.h"

namespace sonde::store {
namespace {

constexpr size_t kEndBytes = 64;
constexpr auto kCommitEvery = std::chrono::milliseconds(250);
// A file from this size on is read in pieces by several threads, once its first part has shown that
// its records are small and its tags known.
constexpr uint64_t kWorthSplitting = 24 << 20;
constexpr uint64_t kHeadBytes = 1 << 20;
constexpr uint64_t kSmallestPiece = 8 << 20;
constexpr uint64_t kLargestRound = 256 << 20;  // between two looks of the readers
constexpr uint64_t kSmallRecord = 4096;        // on average; larger ones are skimmed anyway

// Reading less again is quicker than an index of it is worth.
constexpr uint64_t kWorthIndexing = 4 << 20;

// TensorFlow's profiler leaves such a file beside the real one; TensorBoard counts it but shows
// nothing of it.
bool is_profile_marker(std::string_view name) { return name.ends_with(".profile-empty"); }

}  // namespace

FileLoader::FileLoader(Place place, std::shared_ptr<Memory> memory, Open open)
    : place_(std::move(place)), memory_(std::move(memory)), open_(std::move(open)) {
  reset();
  generation_ = 1;
  commit();
}

void FileLoader::reset() {
  sink_ = std::make_unique<RecordDecoder>(place_.id, memory_, seeds_,
                                          is_profile_marker(place_.name)
                                              ? RecordDecoder::Use::kCountOnly
                                              : RecordDecoder::Use::kEverything);
  was_read_ = false;
  position_ = searched_to_ = 0;
  end_.clear();
  damage_.clear();
  damaged_ = 0;
  tail_.reset();
  views_.clear();
  ++generation_;
  indexed_to_ = 0;
  bytes_done_ = 0;
}

bool FileLoader::update(ParallelFor help, const std::function<void()>& published) {
  auto source = open_(place_.path);
  if (!source) {
    if (source.error().code == Code::kNotFound) {
      mark_gone();
      return true;
    }
    std::string text = "the file cannot be opened: " + source.error().text;
    if (tail_ && tail_->text == text) return false;
    set_unreadable(std::move(text), "check its permissions; it is tried again");
    commit();
    return true;
  }
  gone_ = false;
  const io::FileStat now = (*source)->stat();
  if (!was_read_) restore(**source);
  if (was_read_) {
    // A compressed file has no meaning at an offset: any change reads it again.
    const bool jumps = (*source)->random_access();
    const bool is_other =
        !now.same_file(stat_) || (!jumps && !place_.continues) || (jumps && now.size < position_);
    const Before before = is_other ? Before::kOther : look_before(**source);
    if (before == Before::kUnreadable) return true;  // what was read stays; the next look decides
    if (before == Before::kOther) reset();
  }
  stat_ = now;
  read(**source, help, published);
  // Values that came before their tag's metadata were taken for something else: once more, knowing
  // it. Each pass finds all such tags of the file, so this ends after one more.
  for (int pass = 0; pass < 3 && !sink_->late().empty(); ++pass) {
    seeds_.insert(sink_->late().begin(), sink_->late().end());
    reset();
    read(**source, help, published);
  }
  commit(&help);
  keep_index(**source);
  return true;
}

// Once, before anything was read: begins with what an earlier start has found.
void FileLoader::restore(io::Source& source) {
  if (std::exchange(looked_for_index_, true) || place_.index.empty() || position_ != 0) return;
  if (source.stat().size < kWorthIndexing || !source.random_access()) return;
  auto found = read_index(place_.index, source, place_.id);
  if (!found) {
    if (found.error().code == Code::kCorrupt)
      log::warn("{}; reading {} again", found.error().text, place_.path);
    return;
  }
  for (auto& [tag, metadata] : found->seeds) seeds_.emplace(tag, std::move(metadata));
  // Columns may outlive the store, so nothing of it is held here.
  const auto hints = std::make_shared<const MetadataHints>(seeds_);
  found->columns->set_reread([place = place_, memory = memory_, hints,
                              end = found->position]() -> Result<std::unique_ptr<RecordDecoder>> {
    SONDE_TRY(const again, io::open_records(place.path));
    auto decoder =
        std::make_unique<RecordDecoder>(place.id, memory, *hints, RecordDecoder::Use::kEverything);
    Damages damages;
    FrameReader reader(*again, place.id, *decoder, damages);
    if (!reader.read(0, end)) return fail(Code::kIo, place.path + ": " + reader.error());
    decoder->rest();
    return decoder;
  });
  stat_ = found->stat;
  position_ = indexed_to_ = found->position;
  searched_to_ = found->searched_to;
  end_ = std::move(found->end);
  damage_ = std::move(found->damage);
  damaged_ = found->damaged;
  sink_->restore(std::move(found->decoded));
  was_read_ = true;
}

// A file that grows has its index written anew when a quarter has come since.
void FileLoader::keep_index(io::Source& source) {
  if (!place_.writes_index || place_.index.empty() || position_ < kWorthIndexing ||
      !source.random_access())
    return;
  if (state_ == kUnreadable || is_profile_marker(place_.name)) return;
  if (position_ >= indexed_to_ &&
      position_ - indexed_to_ < std::max(kWorthIndexing, indexed_to_ / 4))
    return;
  const auto written =
      write_index(place_.index, source,
                  {stat_, position_, searched_to_, end_, damage_, damaged_, seeds_, *sink_});
  if (!written) log::warn("{}", written.error().text);
  indexed_to_ = position_;  // also when it failed: not at every look again
}

void FileLoader::set_unreadable(std::string text, std::string advice) {
  state_ = kUnreadable;
  tail_ = Damage{.file = place_.id,
                 .offset = position_,
                 .length = 0,
                 .kind = kUnreadable,
                 .severity = Severity::kLoss,
                 .text = std::move(text),
                 .advice = std::move(advice)};
}

// A file that was cut and written anew may be longer than before: then other bytes stand before
// the place where we stopped.
FileLoader::Before FileLoader::look_before(io::Source& source) {
  std::vector<std::byte> now(end_.size());
  const auto got = source.read_at(position_ - end_.size(), now);
  if (!got) {
    set_unreadable("the file cannot be read: " + got.error().text,
                   "check the disk; it is tried again");
    commit();
    return Before::kUnreadable;
  }
  return *got == now.size() && now == end_ ? Before::kSame : Before::kOther;
}

void FileLoader::remember_end(io::Source& source) {
  end_.resize(static_cast<size_t>(std::min<uint64_t>(kEndBytes, position_)));
  const auto got = source.read_at(position_ - end_.size(), end_);
  if (!got || *got != end_.size()) end_.clear();
}

void FileLoader::read(io::Source& source, ParallelFor help,
                      const std::function<void()>& published) {
  was_read_ = true;
  state_ = "loading";
  Damages damages{std::move(damage_), damaged_};
  FrameReader reader(source, place_.id, *sink_, damages);
  reader.searched_to = searched_to_;
  auto last_commit = std::chrono::steady_clock::now();
  const auto keep = [&] {
    position_ = reader.position();
    searched_to_ = reader.searched_to;
    damage_ = damages.list;
    damaged_ = damages.count;
  };
  reader.on_progress = [&] {
    bytes_done_ = reader.position();
    const auto now = std::chrono::steady_clock::now();
    if (!published || now - last_commit < kCommitEvery) return;
    keep();
    commit();
    published();
    last_commit = std::chrono::steady_clock::now();
  };
  bool readable = true;
  if (position_ == 0 && help.threads > 1 && source.random_access() &&
      stat_.size >= kWorthSplitting) {
    readable = reader.read(0, kHeadBytes);
    // Pieces begin with what the head has learnt, so it goes on until each tag came twice.
    while (readable && sink_->points() < 2 * sink_->part_count()) {
      const uint64_t before = reader.position(), more = before + kHeadBytes / 2;
      if (before < kHeadBytes || more > stat_.size / 8) break;
      readable = reader.read(before, more);
      if (reader.position() < more) break;
    }
    keep();
    const FileFacts& facts = sink_->facts();
    if (readable && position_ >= kHeadBytes && facts.version >= 2 &&
        position_ / (facts.records + 1) < kSmallRecord) {
      read_pieces(source, help, published);
      damages = {std::move(damage_), damaged_};
    }
  }
  readable = readable && reader.read(position_, UINT64_MAX);
  keep();
  tail_ = reader.tail();
  state_ = tail_ ? "waiting" : "complete";
  if (!readable) {
    set_unreadable("the file cannot be read: " + reader.error(),
                   "check the disk; it is tried again");
  }
  if (source.random_access()) remember_end(source);
  sink_->rest();
  bytes_done_ = stat_.size;
}

// Rounds of pieces, each begun at the first intact frame behind a cut, the first by the file's own
// sink. A later piece counts only if the one before it ended exactly where it began: bytes inside a
// record can look like a frame.
void FileLoader::read_pieces(io::Source& source, ParallelFor help,
                             const std::function<void()>& published) {
  struct Work {
    uint64_t begin = 0, end = 0;
    std::unique_ptr<RecordDecoder> sink;  // none: the file's own
    Damages damages;
    bool readable = false;
  };
  // Each piece has columns of its own for every tag: with many tags few pieces waste less.
  const uint64_t most = sink_->part_count() > 1000 ? help.threads : 2 * help.threads;
  // The file may have grown past the size it was opened with.
  while (position_ < stat_.size && stat_.size - position_ >= 2 * kSmallestPiece) {
    const uint64_t left = stat_.size - position_;
    const uint64_t round = published ? std::min(left, kLargestRound) : left;
    const uint64_t pieces = std::clamp<uint64_t>(round / kSmallestPiece, 2, most);
    std::vector<Work> work(pieces);
    work[0].damages = {std::move(damage_), damaged_};
    const uint64_t size = round / pieces;
    sink_->expect(static_cast<double>(size) / static_cast<double>(position_));
    // Before the first piece writes to what they copy.
    help.pool.for_each(
        pieces - 1, [&](size_t i) { work[i + 1].sink = sink_->make_piece(); },
        ThreadPool::Priority::kBackground);
    const auto cut = [&](uint64_t i) { return position_ + size * i; };
    help.pool.for_each(
        pieces,
        [&](size_t i) {
          Work& mine = work[i];
          RecordDecoder& sink = i == 0 ? *sink_ : *mine.sink;
          FrameReader reader(source, place_.id, sink, mine.damages);
          const auto begin = i == 0 ? position_ : reader.find_intact(cut(i));
          if (!begin) return;
          mine.begin = *begin;
          uint64_t seen = mine.begin;
          reader.on_progress = [&] {
            bytes_done_ += reader.position() - seen;
            seen = reader.position();
          };
          // Only the last piece may end in something unfinished.
          mine.readable =
              reader.read(mine.begin, cut(i + 1)) && (!reader.tail() || i + 1 == pieces);
          mine.end = reader.position();
          sink.rest();
        },
        ThreadPool::Priority::kBackground);
    damage_ = std::move(work[0].damages.list);
    damaged_ = work[0].damages.count;
    position_ = work[0].end;
    if (!work[0].readable) return;  // the rest is read in one go
    for (Work& piece : std::span(work).subspan(1)) {
      if (!piece.readable || piece.begin != position_) return;
      sink_->append(std::move(*piece.sink), help);
      for (Damage& damage : piece.damages.list) {
        if (damage_.size() < Damages::kMaxListed) damage_.push_back(std::move(damage));
      }
      damaged_ += piece.damages.count;
      position_ = piece.end;
    }
    bytes_done_ = position_;
    if (published) {
      commit(&help);
      published();
    }
  }
}

void FileLoader::mark_gone() {
  gone_ = true;
  state_ = "gone";
  commit();
}

void FileLoader::reread_with(const MetadataHints& seeds) {
  for (const auto& [tag, metadata] : seeds) seeds_[tag] = metadata;
  reset();
}

void FileLoader::commit(const ParallelFor* help) {
  auto next = std::make_shared<FileSnapshot>();
  next->id = place_.id;
  next->generation = generation_;
  std::deque<Part>& parts = sink_->parts();
  views_.resize(parts.size());
  const auto renew = [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      if (!views_[i] || !is_current(*views_[i], parts[i]))
        views_[i] = view_of(parts[i], sink_->columns());
    }
  };
  help ? help->for_ranges(parts.size(), renew) : renew(0, parts.size());
  next->parts = views_;
  next->facts = sink_->facts();
  next->starts = sink_->starts();
  next->damage = damage_;
  next->damaged = damaged_;
  if (tail_) {
    next->damage.push_back(*tail_);
    ++next->damaged;
  }
  next->size_bytes = stat_.size;
  next->read_bytes = position_;
  next->points = sink_->points();
  next->state = state_;
  next->gone = gone_;
  const std::lock_guard lock(mutex_);
  committed_ = std::move(next);
}

std::shared_ptr<const FileSnapshot> FileLoader::committed() const {
  const std::lock_guard lock(mutex_);
  return committed_;
}

}  // namespace sonde::store
