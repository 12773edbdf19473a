#include "store/file_loader.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "store/frame_reader.h"

namespace sonde::store {
namespace {

constexpr size_t kEndBytes = 64;
constexpr auto kCommitEvery = std::chrono::milliseconds(250);

// TensorFlow's profiler leaves such a file beside the real one; TensorBoard counts it but shows
// nothing of it.
bool is_profile_marker(std::string_view name) { return name.ends_with(".profile-empty"); }

}  // namespace

FileLoader::FileLoader(Place place, std::shared_ptr<Memory> memory)
    : place_(std::move(place)), memory_(std::move(memory)) {
  reset();
  generation_ = 1;
  commit();
}

void FileLoader::reset() {
  sink_ = std::make_unique<Sink>(
      place_.id, memory_, seeds_,
      is_profile_marker(place_.name) ? Sink::Use::kCountOnly : Sink::Use::kEverything);
  was_read_ = false;
  position_ = searched_to_ = 0;
  end_.clear();
  damage_.clear();
  damaged_ = 0;
  tail_.reset();
  views_.clear();
  ++generation_;
  bytes_done_ = 0;
}

void FileLoader::update(ThreadPool& pool, const std::function<void()>& published) {
  auto source = io::open_records(place_.path);
  if (!source) {
    if (source.error().code == Code::kNotFound) {
      mark_gone();
      return;
    }
    state_ = "unreadable";
    tail_ = Damage{.file = place_.id,
                   .offset = position_,
                   .length = 0,
                   .kind = "unreadable",
                   .severity = Severity::kLoss,
                   .text = "the file cannot be opened: " + source.error().text,
                   .advice = "check its permissions; it is tried again when it changes"};
    commit();
    return;
  }
  gone_ = false;
  const io::FileStat now = (*source)->stat();
  // A compressed file has no meaning at an offset: any change reads it again.
  const bool restarted = was_read_ && (!now.same_file(stat_) || now.size < position_ ||
                                       !(*source)->random_access() || !unchanged_before(**source));
  if (restarted) reset();
  stat_ = now;
  read(**source, pool, published);
  // Values that came before their tag's metadata were taken for something else: once more, knowing
  // it. Each pass finds all such tags of the file, so this ends after one more.
  for (int pass = 0; pass < 3 && !sink_->late().empty(); ++pass) {
    seeds_.insert(sink_->late().begin(), sink_->late().end());
    reset();
    read(**source, pool, published);
  }
  commit();
}

// A file that was cut and written anew may be longer than before: then other bytes stand before
// the place where we stopped.
bool FileLoader::unchanged_before(io::Source& source) {
  std::vector<std::byte> now(end_.size());
  const auto got = source.read_at(position_ - end_.size(), now);
  return got && *got == now.size() && now == end_;
}

void FileLoader::remember_end(io::Source& source) {
  end_.resize(static_cast<size_t>(std::min<uint64_t>(kEndBytes, position_)));
  const auto got = source.read_at(position_ - end_.size(), end_);
  if (!got || *got != end_.size()) end_.clear();
}

void FileLoader::read(io::Source& source, ThreadPool&, const std::function<void()>& published) {
  was_read_ = true;
  state_ = "loading";
  Damages damages{std::move(damage_), damaged_};
  FrameReader reader(source, place_.id, *sink_, damages);
  reader.searched_to = searched_to_;
  auto last_commit = std::chrono::steady_clock::now();
  reader.on_progress = [&] {
    bytes_done_ = reader.position();
    const auto now = std::chrono::steady_clock::now();
    if (!published || now - last_commit < kCommitEvery) return;
    position_ = reader.position();
    damage_ = damages.list;
    damaged_ = damages.count;
    commit();
    published();
    last_commit = std::chrono::steady_clock::now();
  };
  const bool readable = reader.read(position_, UINT64_MAX);
  position_ = reader.position();
  searched_to_ = reader.searched_to;
  damage_ = std::move(damages.list);
  damaged_ = damages.count;
  tail_ = reader.tail();
  state_ = tail_ ? "waiting" : "complete";
  if (!readable) {
    state_ = "unreadable";
    tail_ = Damage{.file = place_.id,
                   .offset = position_,
                   .length = 0,
                   .kind = "unreadable",
                   .severity = Severity::kLoss,
                   .text = "the file cannot be read: " + reader.error(),
                   .advice = "check the disk; it is tried again when the file changes"};
  }
  if (source.random_access()) remember_end(source);
  bytes_done_ = stat_.size;
}

void FileLoader::mark_gone() {
  gone_ = true;
  state_ = "gone";
  commit();
}

void FileLoader::reread_with(const Seeds& seeds) {
  for (const auto& [tag, metadata] : seeds) seeds_[tag] = metadata;
  reset();
}

void FileLoader::commit() {
  auto next = std::make_shared<FileSnapshot>();
  next->id = place_.id;
  next->generation = generation_;
  std::deque<Part>& parts = sink_->parts();
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i == views_.size()) views_.emplace_back();
    if (!views_[i] || parts[i].touched) views_[i] = view_of(parts[i], sink_->columns());
    parts[i].touched = false;
  }
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
